import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { GARBAGE } from '../smsc/garbage.ts';
import type { Smsc } from '../smsc/smsc.ts';
import { COMMAND, cString, encodePdu, RESPONSE } from '../smsc/wire.ts';
import { stopClock } from '../support/stopClock.ts';
import { openProvider, part, submit } from './smppProvider.ts';
import { until } from './until.ts';

const kinds = (answers: { kind: string }[]) => {
  const counts: Record<string, number> = {};
  for (const { kind } of answers) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};
const many = (count: number) => Array.from({ length: count }, (_, index) => part(index));

/** Answers the first submit, whose time is over. */
function answerLate(smsc: Smsc, answer: { body?: Buffer; status?: number }): void {
  const { sequence } = smsc.submits[0]!;
  smsc.connections()[0]!.write(encodePdu({ id: COMMAND.submitSm | RESPONSE, sequence, ...answer }));
}

describe('a submit', () => {
  test('is answered with the id the SMSC gave, and reported', async () => {
    const { provider, smsc, reports } = await openProvider();
    const answer = await submit(provider, part(1));
    expect(answer).toEqual({ kind: 'accepted', providerMessageId: smsc.submits[0]!.id });
    expect(smsc.submits[0]).toMatchObject({ destination: '48600000001', source: 'GONIEC' });
    await until(() => reports.length === 1);
    expect(reports[0]).toMatchObject({ providerMessageId: smsc.submits[0]!.id, state: 'delivered' });
  });

  test.each([
    [0x58, 'throttled'],
    [0x0b, 'refused'],
    [0x0400, 'unanswered'],
  ])('answered with %i is %s', async (status, kind) => {
    const { provider, smsc } = await openProvider();
    smsc.behave = () => ({ status });
    const answer = await submit(provider, part());
    expect(answer).toMatchObject({ kind, code: `0x${status.toString(16).padStart(8, '0')}` });
  });

  test.each([
    [0x0101, 'the SMSC answered a submit: ESME_RPROHIBITED (0x00000101)'],
    [0x0b, null],
  ])('answered with %i is to be seen where the message is not to blame', async (status, lastError) => {
    const { provider, smsc } = await openProvider();
    smsc.behave = () => ({ status });
    await submit(provider, part());
    expect(provider.state()).toMatchObject({ lastError, failures: 0, sessions: 1 });
  });

  test('taken without an id is taken, under a name that no report has', async () => {
    const { provider, smsc } = await openProvider();
    smsc.behave = () => ({ id: '', reports: [] });
    expect(await submit(provider, part(7))).toEqual({
      kind: 'accepted',
      providerMessageId: 'unnamed:msg_7/1',
    });
    expect(provider.state()).toMatchObject({
      lastError: 'the SMSC took a submit and gave it no id: no delivery report can be matched',
      failures: 0,
    });
  });

  test('that cannot be written is refused, and the session goes on', async () => {
    const { provider, smsc, errors } = await openProvider();
    const answer = await submit(provider, part(1, { sender: 'ŻÓŁW' }));
    expect(answer).toMatchObject({ kind: 'refused', reason: 'invalid_sender' });
    expect(errors).toHaveLength(1);
    expect(smsc.submits).toHaveLength(0);
    expect(await submit(provider, part(2))).toMatchObject({ kind: 'accepted' });
  });
});

describe('the window', () => {
  test('never has more open than it may, and uses all of it', async () => {
    const { provider, smsc } = await openProvider({ window: 5, sessions: 2 });
    const open = new Map<number, number>();
    let most = 0;
    smsc.behave = (_submit, connection) => {
      const now = (open.get(connection.number) ?? 0) + 1;
      open.set(connection.number, now);
      most = Math.max(most, now);
      // Counted down before the answer leaves: the SMSC never sees a sixth while five are open.
      setTimeout(() => open.set(connection.number, open.get(connection.number)! - 1), 19);
      return { answer: 20 };
    };
    const answers = await Promise.all(many(100).map((one) => submit(provider, one)));
    expect(kinds(answers)).toEqual({ accepted: 100 });
    expect(most).toBe(5);
    expect(new Set(smsc.submits.map(({ connection }) => connection)).size).toBe(2);
    expect(provider.state()).toMatchObject({ sessions: 2, window: 10, inFlight: 0, failures: 0 });
  });
});

describe('without an answer', () => {
  test('in time it is unanswered; the answer is told when it comes', async () => {
    const clock = stopClock();
    const { provider, smsc, late } = await openProvider({ responseSeconds: 5 });
    smsc.behave = () => ({ answer: 'never' });
    const submitted = submit(provider, part(3));
    await until(() => smsc.submits.length === 1);
    await clock.pass(5_000);
    expect(await submitted).toEqual({ kind: 'unanswered', code: 'no_answer' });
    answerLate(smsc, { body: cString(smsc.submits[0]!.id!) });
    await until(() => late.length === 1);
    expect(late[0]).toEqual({
      reference: 'msg_3/1',
      answer: { kind: 'accepted', providerMessageId: smsc.submits[0]!.id },
    });
    expect(smsc.submits).toHaveLength(1);
  });

  test('a late answer is told again until it is stored', async () => {
    let failures = 0;
    const clock = stopClock();
    const { provider, smsc, late } = await openProvider(
      { responseSeconds: 5 },
      {
        store: {
          onLateAnswer: () => (failures++ < 1 ? Promise.reject(new Error('away')) : Promise.resolve()),
        },
      },
    );
    smsc.behave = () => ({ answer: 'never', status: 0x0b });
    const submitted = submit(provider, part(3));
    await until(() => smsc.submits.length === 1);
    await clock.pass(5_000);
    expect(await submitted).toMatchObject({ kind: 'unanswered' });
    answerLate(smsc, { status: 0x0b });
    await until(() => late.length === 1);
    expect(late[0]?.answer).toMatchObject({ kind: 'refused', reason: 'invalid_destination' });
  });

  test('the slot is free for others, and the session stays', async () => {
    const clock = stopClock();
    const { provider, smsc } = await openProvider({ window: 1, responseSeconds: 5 });
    smsc.behave = ({ destination }) => (destination.endsWith('0') ? { answer: 'never' } : {});
    const submits = [submit(provider, part(0)), submit(provider, part(1))];
    await until(() => smsc.submits.length === 1);
    await clock.pass(5_000);
    expect(await Promise.all(submits)).toMatchObject([{ kind: 'unanswered' }, { kind: 'accepted' }]);
    expect(provider.state()).toMatchObject({ sessions: 1, failures: 0 });
  });

  test('because the connection broke, it is unanswered; those not written wait for the next session', async () => {
    stopClock();
    const { provider, smsc } = await openProvider({ window: 10 });
    let count = 0;
    smsc.behave = () => (++count === 25 ? { connection: 'disconnect' } : { answer: 5 });
    const answers = await Promise.all(many(60).map((one) => submit(provider, one)));
    const unanswered = answers.filter(({ kind }) => kind === 'unanswered');
    expect(unanswered.length).toBeGreaterThan(0);
    expect(unanswered.length).toBeLessThanOrEqual(10);
    expect(kinds(answers).accepted).toBe(60 - unanswered.length);
    const taken = smsc.submits.map(({ destination }) => destination);
    expect(new Set(taken).size).toBe(taken.length);
    expect(provider.state()).toMatchObject({ sessions: 1, failures: 1 });
  });

  test('that is answered as the connection breaks leaves its place to nobody', async () => {
    stopClock();
    const { provider, smsc } = await openProvider({ window: 10 });
    let count = 0;
    smsc.behave = ({ sequence }) => {
      if (++count !== 10) return count < 10 ? { answer: 'never' } : {};
      const answer = encodePdu({ id: COMMAND.submitSm | RESPONSE, sequence, body: cString('last') });
      return {
        answer: 'never',
        connection: Buffer.concat([answer, GARBAGE['a text instead of a PDU']!.bytes]),
      };
    };
    const answers = await Promise.all(many(60).map((one) => submit(provider, one)));
    expect(kinds(answers)).toEqual({ unanswered: 9, accepted: 51 });
    expect(provider.state()).toMatchObject({ sessions: 1, failures: 1 });
  });

  test('of a frozen connection, enquire_link finds out, and another session is opened', async () => {
    const clock = stopClock();
    const { provider, smsc } = await openProvider({ responseSeconds: 5 });
    smsc.behave = () => ({ connection: 'freeze' });
    const submitted = submit(provider, part(1));
    await until(() => smsc.submits.length === 1);
    await clock.pass(5_000);
    expect(await submitted).toMatchObject({ kind: 'unanswered' });
    smsc.behave = () => ({});
    await clock.pass(5_000);
    await until(() => smsc.bindAnswers.length >= 2 && provider.state().sessions === 1);
    expect(provider.state().lastError).toBe('transceiver: no answer to enquire_link');
    expect(await submit(provider, part(2))).toMatchObject({ kind: 'accepted' });
  });
});

describe('without a session', () => {
  test('a submit is answered with broken: it was certainly not sent', async () => {
    const clock = stopClock();
    const { provider, smsc } = await openProvider();
    await smsc.stop();
    await until(() => provider.state().sessions === 0);
    const submits = many(5).map((one) => submit(provider, one));
    await clock.pass(2_000);
    const answers = await Promise.all(submits);
    expect(kinds(answers)).toEqual({ broken: 5 });
    expect(answers[0]).toEqual({ kind: 'broken', code: 'no_session' });
    // With the clock standing still: nobody waits any more.
    expect(await submit(provider, part(9))).toMatchObject({ kind: 'broken' });
  });
});

describe('a part leaves', () => {
  test('not at all when it must not, and its place is for others', async () => {
    const { provider, smsc } = await openProvider({ window: 1 });
    expect(await provider.submit(part(1), () => Promise.resolve(false))).toEqual({ kind: 'withheld' });
    await expect(provider.submit(part(2), () => Promise.reject(new Error('no rate')))).rejects.toThrow(
      'no rate',
    );
    expect(await submit(provider, part(3))).toMatchObject({ kind: 'accepted' });
    expect(smsc.submits).toHaveLength(1);
  });

  test('by another session where its own ends meanwhile, or not at all', async () => {
    const { provider, smsc } = await openProvider({
      sessions: 2,
      reconnectMinMs: 60_000,
      reconnectMaxMs: 60_000,
    });
    // However soon it is tried again, by chance.
    smsc.maxBinds = 0;
    const endOne = async () => {
      smsc.connections()[0]!.disconnect();
      const before = provider.state().sessions;
      await until(() => provider.state().sessions < before);
      return true;
    };
    // Both places are as free: which session is held is not known, so that one ends is enough or not.
    expect(await provider.submit(part(1), endOne)).toMatchObject({ kind: 'accepted' });
    expect(await provider.submit(part(2), endOne)).toEqual({ kind: 'broken', code: 'no_session' });
    expect(smsc.submits).toHaveLength(1);
  });
});

describe('stop', () => {
  test('waits for the answers under way; what was not written is broken', async () => {
    const { provider, smsc, errors } = await openProvider({ window: 4 });
    smsc.behave = () => ({ answer: 'never' });
    const submits = many(10).map((one) => submit(provider, one));
    await until(() => smsc.submits.length === 4);
    const stopped = provider.stop();
    for (const { sequence, id } of smsc.submits)
      smsc
        .connections()[0]!
        .write(encodePdu({ id: COMMAND.submitSm | RESPONSE, sequence, body: cString(id!) }));
    await stopped;
    expect(kinds(await Promise.all(submits))).toEqual({ accepted: 4, broken: 6 });
    expect(smsc.submits).toHaveLength(4);
    await until(() => smsc.connections().length === 0);
    expect(await submit(provider, part(1))).toEqual({ kind: 'broken', code: 'no_session' });
    expect(errors).toEqual([]);
    expect(smsc.problems).toEqual([]);
  });

  test('does not wait for ever', async () => {
    const { provider, smsc } = await openProvider({ responseSeconds: 0.5 });
    smsc.behave = () => ({ connection: 'freeze' });
    const submitted = submit(provider, part(1));
    await until(() => smsc.submits.length === 1);
    await provider.stop();
    expect(await submitted).toMatchObject({ kind: 'unanswered' });
  });

  test('ends while it waits to connect again, and while it connects', async () => {
    const { provider, smsc } = await openProvider({ reconnectMinMs: 60_000, reconnectMaxMs: 60_000 });
    await smsc.stop();
    await until(() => provider.state().failures > 0);
    await provider.stop();
    const other = await openProvider({}, { unbound: true });
    await other.provider.stop();
    await delay(0);
    await until(() => other.smsc.connections().length === 0);
  });
});
