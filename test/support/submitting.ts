import { MockActivityEnvironment } from '@temporalio/testing';
import { submissionActivities } from '../../activities/submission.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import type { Routing } from '../../domain/routing.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import type { OperationContext } from '../../operations/context.ts';
import type { SendInput } from '../../operations/sending/send.ts';
import { createRetryThrottle } from '../../concurrency/retryPace.ts';
import { createPacer } from '../../db/routes/pacing.ts';
import type { Provider } from '../../providers/provider.ts';

/** A send as an operation is asked for it, of an account with these routes. */
export function askedSend(
  sql: Database,
  accountId: string,
  routing: Routing,
  input: SendInput,
): OperationContext<SendInput> {
  const services = {
    sql,
    routing: () => Promise.resolve(routing),
    settings: { DEFAULT_SENDER: 'GONIEC' },
    shortUrl: 'https://gnc.example',
    secretsKey: Buffer.alloc(32),
  };
  const caller = { accountId, accountMode: 'live', actor: { kind: 'key', id: newId('key') } };
  const request = {
    requestId: newId('req'),
    receivedAt: Date.now(),
    acquireHeavySlot: () => undefined,
    input,
  };
  return { ...request, services, caller } as unknown as OperationContext<SendInput>;
}

/** Submits a charged message by a route whose provider takes all it gets. @returns what it got, and what the step came to */
export async function submitBy(sql: Database, route: string, id: string) {
  const parts: SubmitPart[] = [];
  const provider = {
    name: route,
    takesWhole: false,
    async submit(part: SubmitPart, leave: () => Promise<boolean>) {
      if (!(await leave())) return { kind: 'withheld' as const };
      parts.push(part);
      return { kind: 'accepted' as const, providerMessageId: part.reference };
    },
  } as unknown as Provider;
  const steps = submissionActivities({
    ...{ sql, provider, pacer: createPacer(sql, route, null), secretsKey: Buffer.alloc(32) },
    routing: () => Promise.reject(new Error('nobody asks for another route')),
    retries: createRetryThrottle(),
    applyReports: () => Promise.resolve(),
    onAnswer: () => undefined,
  });
  const outcome = await new MockActivityEnvironment().run(() => steps.submit(id, { moves: 0 }));
  return { parts, outcome };
}
