import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SubmitAnswer } from '../../domain/submission.ts';
import { GARBAGE } from '../smsc/garbage.ts';
import { takenTwice } from '../smsc/counts.ts';
import { openProvider, part, submit, until } from './smppProvider.ts';

const PARTS = 600;
const AT_ONCE = 40;
const GARBAGES = Object.values(GARBAGE).map(({ bytes }) => bytes);

/** A number from 0 to 1 that depends on `seed` alone, so that a failure comes again. */
function chance(seed: number): number {
  const value = Math.sin(seed * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
}

test.each(['transceiver', 'pair'])(
  'through everything at once (%s), each submit is answered once, and truly',
  async (bind) => {
    const { smsc, provider, late, errors, reports } = await openProvider({
      bind,
      sessions: 3,
      window: 8,
      responseSeconds: 0.3,
      enquireLinkSeconds: 0.5,
      bindSeconds: 1,
    });
    let count = 0;
    smsc.behave = () => {
      const dice = chance(count++);
      if (dice < 0.02) return { connection: 'disconnect' };
      if (dice < 0.03) return { connection: 'disconnect', taken: false };
      if (dice < 0.035) return { connection: 'freeze' };
      if (dice < 0.06) return { connection: GARBAGES[count % GARBAGES.length]! };
      if (dice < 0.09) return { answer: 'never' };
      if (dice < 0.13) return { answer: 500 };
      if (dice < 0.18) return { status: 0x58 };
      if (dice < 0.22) return { status: 0x0b };
      return { answer: 20 * chance(-count) };
    };
    const waiting = Array.from({ length: PARTS }, (_, index) => part(index));
    const answers: { destination: string; reference: string; answer: SubmitAnswer }[] = [];
    const inTurn = async (): Promise<void> => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        const destination = one.destination.slice(1);
        const answer = await submit(provider, one);
        if (answer.kind === 'broken') {
          expect(smsc.submits.some((submitted) => submitted.destination === destination)).toBe(false);
          waiting.push(one);
          await setImmediate();
          await until(() => provider.state().sessions > 0);
        } else answers.push({ destination, reference: one.reference, answer });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, inTurn));
    expect(answers).toHaveLength(PARTS);
    expect(takenTwice(smsc.submits)).toEqual([]);
    const ids = new Map(smsc.submits.map((one) => [one.destination, one.taken ? one.id : null]));
    for (const { destination, answer } of answers) {
      if (answer.kind === 'accepted') expect(ids.get(destination)).toBe(answer.providerMessageId);
      else if (answer.kind !== 'unanswered') expect(ids.get(destination)).toBeNull();
    }
    const unanswered = new Set(
      answers.filter(({ answer }) => answer.kind === 'unanswered').map(({ reference }) => reference),
    );
    expect(unanswered.size).toBeGreaterThan(0);
    expect(unanswered.size).toBeLessThan(PARTS / 2);
    expect(late.every(({ reference }) => unanswered.has(reference))).toBe(true);

    smsc.behave = () => ({});
    await until(() => provider.state().sessions === 3 && provider.state().inFlight === 0);
    await until(() => smsc.undelivered === 0);
    const reported = new Set(reports.map(({ providerMessageId }) => providerMessageId));
    for (const one of smsc.submits) if (one.taken) expect(reported).toContain(one.id);
    expect(errors.every((error) => error.startsWith('a deliver_sm could not be read'))).toBe(true);
    expect(smsc.problems).toEqual([]);
  },
);
