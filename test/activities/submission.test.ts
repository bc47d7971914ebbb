import type { ApplicationFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRetryThrottle, type RetryThrottle } from '../../concurrency/retryPace.ts';
import { createPacer, type Pacer } from '../../db/routes/pacing.ts';
import { submissionActivities } from '../../activities/submission.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Database } from '../../db/connection.ts';
import { leavePartsUnanswered } from '../../db/messages/parts.ts';
import type { SubmitAnswer } from '../../domain/submission.ts';
import {
  FAILURE,
  type MovedOn,
  type PausedSubmission,
  type SubmissionOutcome,
} from '../../workflows/contracts.ts';
import { startDatabase } from '../support/database.ts';
import { writeMessage } from '../support/messages.ts';

const ROUTE = 'r';
const throttled: SubmitAnswer = { kind: 'throttled', retryAfterMs: 1 };

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
  await sql`insert into routes (name, kind, state) values (${ROUTE}, 'smpp', 'active')`;
});
afterAll(() => stop());

let count = 0;
async function queued(): Promise<string> {
  count += 1;
  const id = `msg_${String(count).padStart(26, '0')}`;
  await writeMessage(sql, { id, status: 'queued', submission: 'waiting', route: ROUTE });
  return id;
}

async function stateOf(id: string) {
  const [found] = await sql`
    select m.status, m.submission, p.state, (select count(*)::int from outcome_signals s
                                              where s.message_id = m.id and s.status = 'held') as told
      from messages m join message_parts p on p.message_id = m.id where m.id = ${id}`;
  return found;
}

/** One attempt at an SMSC that answers so, once for each submit; `before` happens before it does. */
function attempt(
  id: string,
  answers: SubmitAnswer[],
  { before, pacer, retries }: { before?: () => Promise<void>; pacer?: Pacer; retries?: RetryThrottle } = {},
): Promise<SubmissionOutcome | MovedOn | PausedSubmission> {
  const provider = {
    name: ROUTE,
    takesWhole: false,
    async submit(_: unknown, leave: () => Promise<boolean>) {
      if (!(await leave())) return { kind: 'withheld' as const };
      await before?.();
      return answers.shift()!;
    },
  } as unknown as Provider;
  const steps = submissionActivities({
    ...{ sql, provider, pacer: pacer ?? createPacer(sql, ROUTE, null), secretsKey: Buffer.alloc(32) },
    routing: () =>
      retries === undefined
        ? Promise.reject(new Error('nobody asks for another route'))
        : Promise.resolve({ routes: [], rules: [] }),
    retries: retries ?? createRetryThrottle(),
    applyReports: () => Promise.resolve(),
    onAnswer: () => undefined,
  });
  return new MockActivityEnvironment().run(() => steps.submit(id, { moves: 0 }));
}

describe('an attempt whose part the SMSC throttles', () => {
  test('submits it again, also where the database is away as the route is to be paused', async () => {
    const id = await queued();
    const pacer = createPacer(sql, ROUTE, null);
    pacer.pause = () => Promise.reject(new Error('the database is away'));
    const taken: SubmitAnswer = { kind: 'accepted', providerMessageId: 'c-1' };
    expect(await attempt(id, [throttled, taken], { pacer })).toMatchObject({ status: 'sent' });
  });

  test('after another attempt has given it up: it is put back, and the workflow is told', async () => {
    const id = await queued();
    const before = () => leavePartsUnanswered(sql, { messageId: id, parts: [1] }, null);
    await expect(attempt(id, [throttled], { before })).rejects.toMatchObject({ type: FAILURE.throttled });
    expect(await stateOf(id)).toEqual({ status: 'queued', submission: 'waiting', state: 'held', told: 1 });
  });
});

describe('messages whose route does not work, where no other takes them', () => {
  const broken: SubmitAnswer = { kind: 'broken', code: '15' };

  test('are tried twenty a second, however many of an account they are, until it takes one', async () => {
    const retries = createRetryThrottle();
    const asked: string[] = [];
    const seen: RetryThrottle = {
      ...retries,
      delayFor(what, usualMs) {
        asked.push(what);
        return retries.delayFor(what, usualMs);
      },
    };
    const id = await queued();
    // Few: by the retry policy.
    await expect(attempt(id, [broken], { retries: seen })).rejects.toMatchObject({
      ...{ type: FAILURE.routeUnavailable, nextRetryDelay: undefined },
    });
    for (let i = 0; i < 10_000; i += 1) retries.delayFor(asked[0]!, 60_000);
    const late = await attempt(id, [broken], { retries: seen }).catch((error: unknown) => error);
    expect(late).toMatchObject({ type: FAILURE.routeUnavailable });
    expect(Number((late as ApplicationFailure).nextRetryDelay)).toBeGreaterThan(8 * 60_000);
    const taken: SubmitAnswer = { kind: 'accepted', providerMessageId: 'c-9' };
    expect(await attempt(id, [taken], { retries: seen })).toMatchObject({ status: 'sent' });
    await expect(attempt(await queued(), [broken], { retries: seen })).rejects.toMatchObject({
      ...{ type: FAILURE.routeUnavailable, nextRetryDelay: undefined },
    });
  });
});
