import { createHash, createHmac } from 'node:crypto';
import { QueueTimeoutError } from '../../concurrency/tasks.ts';
import { QuotaReachedError, ToolBudgetError } from '../../db/accounts/quotas.ts';
import { isFromServer } from '../../db/connection.ts';
import { type Accepting, LinksChangedError } from '../../db/messages/accept.ts';
import { KeyTakenError, readKeyRecord } from '../../db/messages/idempotency.ts';
import { InsufficientFundsError } from '../../db/money/reservations.ts';
import { Refused } from '../../domain/refusals.ts';
import type { AcceptedStatus } from '../../domain/statuses.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import type { OperationContext, Caller, Services } from '../context.ts';
import { codeOf, DeadlineError, outageOf, within } from '../outages.ts';
import { quotaReached, toolBudgetReached } from '../quotas.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';

// Leaves time to respond within ten seconds: by then the database has accepted or refused, unless it is down.
export const ACCEPT_MS = 9_500;
// Accepted but not started. Messages an API process accepts between two reads of the backlog come on top.
const BACKLOG_MAX = { account: 100_000, installation: 1_000_000 };
const BACKLOG_RETRY_SECONDS = 60;
// The server was not reached, so the transaction was never sent.
const UNREACHED = new Set(['ECONNREFUSED', 'CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/**
 * Accepts messages, all or none (v2.3.0, Send), and counts the outcome.
 * @throws Refused; KeyTakenError and LinksChangedError for a conflict with another request, which may be retried
 */
export async function accept(
  context: Pick<OperationContext<unknown>, 'services' | 'caller' | 'receivedAt'>,
  accepting: Accepting,
): Promise<void> {
  const { services, receivedAt } = context;
  const { messages } = accepting;
  await refuseBeyondBacklog(context);
  try {
    await acceptWithin(receivedAt + ACCEPT_MS, 'send', () => services.acceptMessages(accepting));
  } catch (error) {
    if (error instanceof InsufficientFundsError) {
      countRequested('insufficient_funds', messages.length);
      throw new Refused({ reason: 'insufficient_funds' });
    }
    if (error instanceof QuotaReachedError) throw quotaReached(error.quota, error.limit, 'to');
    if (error instanceof ToolBudgetError) throw toolBudgetReached(error, 'to');
    if (error instanceof Refused) {
      services.log.error({ err: error }, 'a send could not be accepted');
      countRequested(
        error.refusal.reason === 'send_unresolved' ? 'unresolved' : 'abandoned',
        messages.length,
      );
    }
    throw error;
  }
  countAccepted(messages);
}

/** Refuses a request while the backlog is full, which means that workers or Temporal have been down for long. @throws Refused */
export async function refuseBeyondBacklog({
  services,
  caller,
}: {
  services: Pick<Services, 'backlog'>;
  caller: Pick<Caller, 'accountId'>;
}): Promise<void> {
  const { total, ofAccounts } = await services.backlog();
  const ofAccount = ofAccounts.get(caller.accountId) ?? 0;
  if (ofAccount >= BACKLOG_MAX.account || total >= BACKLOG_MAX.installation)
    throw new Refused({ reason: 'backlog_full', seconds: BACKLOG_RETRY_SECONDS });
}

/**
 * Runs the transaction that accepts something, until a deadline in epoch milliseconds.
 * @throws its own errors; Refused on a database outage: `…_abandoned` if nothing was accepted, `…_unresolved` if that is unknown
 */
export async function acceptWithin<Accepted>(
  until: number,
  what: 'send' | 'lookup',
  work: () => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await within(until, work());
  } catch (error) {
    throw failureOf(error, what);
  }
}

function failureOf(error: unknown, what: 'send' | 'lookup'): unknown {
  if (error instanceof KeyTakenError || error instanceof LinksChangedError) return error;
  const outage = outageOf(error);
  if (outage === null) return error;
  const isCertain = isFromServer(error) || error instanceof QueueTimeoutError || UNREACHED.has(codeOf(error));
  if (isCertain && !(error instanceof DeadlineError))
    return new Refused({ reason: `${what}_abandoned`, outage }, undefined, error);
  return new Refused({ reason: `${what}_unresolved`, outage }, undefined, error);
}

function countAccepted(messages: Accepting['messages']): void {
  const counts = new Map<AcceptedStatus, number>();
  for (const { status } of messages) counts.set(status, (counts.get(status) ?? 0) + 1);
  for (const [status, count] of counts) countRequested(status, count);
}

/** The idempotency key of a send, valid for 24 hours, with the fingerprint of its request. */
export interface IdempotencyClaim {
  key: string;
  fingerprint: Buffer;
  /** The request field with the key; null: the header. */
  field: string | null;
}

/** The idempotency key for an `idx`. No `Idempotency-Key` header can collide: it has no control characters. */
export function keyOfIdx(channel: Channel | 'email', idx: string): string {
  return `\u0001${channel}:${createHash('sha256').update(idx).digest('base64url')}`;
}

/** `keyOfIdx` as part of a claim. */
export function idempotencyKeyOf(
  channel: Channel | 'email',
  idx: string,
): Pick<IdempotencyClaim, 'key' | 'field'> {
  return { key: keyOfIdx(channel, idx), field: 'idx' };
}

export interface Sent<Body> {
  body: Body;
  replayed: boolean;
}

/**
 * The fingerprint of a request: HMAC-SHA256 with the secrets key, as a plain hash of a number and a short text can be brute-forced.
 * @param body a parsed JSON document; the order of keys does not matter
 */
export function fingerprintOf(secretsKey: Buffer, method: string, path: string, body: unknown): Buffer {
  return createHmac('sha256', secretsKey)
    .update(`idempotency:${method} ${path}\n${canonical(body)}`)
    .digest();
}

/** The response to an accepted request with this key, or null (v2.3.0, Limits and Errors). @throws Refused if it had other content */
export async function findReplay<Body>(
  context: { services: Pick<Services, 'sql'>; caller: Pick<Caller, 'accountId'> },
  keyed: IdempotencyClaim | null,
): Promise<Sent<Body> | null> {
  if (keyed === null) return null;
  const record = await readKeyRecord(context.services.sql, context.caller.accountId, keyed.key);
  if (record === null) return null;
  if (!keyed.fingerprint.equals(record.fingerprint))
    throw new Refused({ reason: 'idempotency_other_content' }, keyed.field ?? undefined);
  return { body: record.body as Body, replayed: true };
}

/** Sends once per idempotency key: repeats, concurrent ones too, get the response of the first. @throws Refused */
export async function sendOnce<Body>(
  context: Parameters<typeof findReplay>[0],
  keyed: IdempotencyClaim | null,
  send: () => Promise<Body>,
): Promise<Sent<Body>> {
  const replay = await findReplay<Body>(context, keyed);
  if (replay !== null) return replay;
  try {
    return { body: await send(), replayed: false };
  } catch (error) {
    const first = isConcurrentConflict(error) ? await findReplay<Body>(context, keyed) : null;
    if (first !== null) return first;
    if (!(error instanceof KeyTakenError)) throw error;
    throw new Refused({ reason: 'idempotency_in_progress' }, keyed?.field ?? undefined);
  }
}

/** Whether a request may have failed because a concurrent one with its key took the key, the money or the last of a quota. */
export function isConcurrentConflict(error: unknown): boolean {
  return error instanceof KeyTakenError || (error instanceof Refused && !('outage' in error.refusal));
}

/** JSON with sorted keys and without undefined fields. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${entries.join(',')}}`;
}
