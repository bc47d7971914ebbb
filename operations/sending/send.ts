import { type Accepting, LinksChangedError, type NewMessage } from '../../db/messages/accept.ts';
import { quotasOf } from '../../domain/quotas.ts';
import { Refused } from '../../domain/refusals.ts';
import { addIds } from '../../telemetry/ids.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import { currentTraceparent } from '../../telemetry/tracing.ts';
import type { Asked } from '../asked.ts';
import { spendingOf } from '../toolBudget.ts';
import { accept } from './accept.ts';
import { type Keyed, sendOnce, type Sent } from './idempotency.ts';
import type { SendInput } from './input.ts';
import { newMessages } from './newMessages.ts';
import { isAffordable, type Plan, planMessages, totalCost } from './plan.ts';
import { messageQuotaRefusal, refuseLinksBeyond } from './room.ts';

const LINK_ATTEMPTS = 10;

/** How an entry point answers a send, and what makes it the same send as another. */
export interface Answering<Body> {
  /** Kept for whoever repeats the key. */
  bodyOf: (messages: readonly NewMessage[]) => Body;
  /** By its `Idempotency-Key`, or a field that is one; null where none came. */
  keyed: Keyed | null;
}

/**
 * Sends a message to each recipient (v2.3.0, Send): all are accepted and charged together, or nothing is sent.
 * @throws Refused
 */
export async function send<Body>(asked: Asked<SendInput>, answering: Answering<Body>): Promise<Sent<Body>> {
  return await sendOnce(asked, answering.keyed, () => sendNew(asked, answering));
}

async function sendNew<Body>(asked: Asked<SendInput>, { keyed, bodyOf }: Answering<Body>): Promise<Body> {
  const { services, caller } = asked;
  const plan = await planMessages(asked);
  const refusal = paymentRefusal(plan) ?? (await messageQuotaRefusal(services.sql, caller.accountId, plan));
  if (refusal !== null) throw refusal;
  if (!plan.batched) addIds({ messageId: plan.messages[0]!.id });

  for (let attempt = 1; ; attempt += 1) {
    const messages = await newMessages(asked, plan);
    refuseLinksBeyond(plan, messages);
    const body = bodyOf(messages);
    const claims = keyed === null ? [] : [{ ...keyed, acceptedBody: body }];
    try {
      await accept(asked, acceptingOf(asked, plan, messages, claims));
      return body;
    } catch (error) {
      if (!(error instanceof LinksChangedError)) throw error;
      // Others write to the same people with the same links, and each attempt in vain means that one of them got on.
      if (attempt >= LINK_ATTEMPTS)
        throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' }, undefined, error);
    }
  }
}

/** What is accepted of a plan. */
export function acceptingOf(
  { caller }: Pick<Asked<unknown>, 'caller'>,
  plan: Plan,
  messages: readonly NewMessage[],
  claims: Accepting['claims'],
): Accepting {
  const costGrosze = plan.terms.mode === 'test' ? 0 : totalCost(plan.messages);
  return {
    ...{ messages, claims, limits: quotasOf(plan.terms.quotas), spending: spendingOf(caller, costGrosze) },
    trace: currentTraceparent(),
  };
}

/** What can be refused before anything is written. */
export function paymentRefusal(plan: Plan): Refused | null {
  if (plan.terms.overdue) return new Refused({ reason: 'statement_overdue' });
  if (isAffordable(plan)) return null;
  countRequested('insufficient_funds', plan.messages.length);
  return new Refused({ reason: 'insufficient_funds' });
}
