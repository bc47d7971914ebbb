import { type ApplicationFailure, Context, log } from '@temporalio/activity';
import type { Database } from '../../db/connection.ts';
import {
  recordAcceptedEmail,
  type AnswerEvents,
  claimEmail,
  failEmail,
  markEmailUnanswered,
  leaveOutSuppressed,
  moveEmail,
  type SubmittableEmail,
  releaseEmailClaim,
  readSubmittableEmail,
  refuseEmail,
} from '../../db/emails/handOver.ts';
import type { EmailStatus } from '../../domain/email/statuses.ts';
import { emailTraffic, type Routing, workingRoute } from '../../domain/routing.ts';
import type { SubmitAnswer, Suspect } from '../../domain/submission.ts';
import type { EmailEvents } from '../../pipeline/emailEvents.ts';
import type { RetryThrottle } from '../../concurrency/retryPace.ts';
import type { AcquireDeadline, Semaphore } from '../../concurrency/semaphore.ts';
import type { Pacer } from '../../db/routes/pacing.ts';
import { type EmailAnswer, type EmailProvider, suspectOf } from '../../providers/email.ts';
import type { Provider, NotSubmitted } from '../../providers/provider.ts';
import { addIds } from '../../telemetry/ids.ts';
import { observeSubmit } from '../../telemetry/messageMetrics.ts';
import type { HandedOver } from '../../workflows/contracts.ts';
import { routeUnavailable, throttled, unknownEmail, usualRetryDelay } from '../failures.ts';
import { answerOf, storeWithRetry } from '../submission/storing.ts';
import { answerEvents, submitEmailOf } from './content.ts';

export interface HandOverContext {
  sql: Database;
  provider: Provider;
  pacer: Pacer;
  secretsKey: Buffer;
  /** Base URL of unsubscribe links: with scheme, without a trailing slash. */
  shortUrl: string;
  routing: () => Promise<Routing>;
  places: Semaphore<string>;
  /** Keys: suspended accounts, and account and domain of e-mails that no route takes. */
  retries: RetryThrottle;
  emailEvents: Pick<EmailEvents, 'catchUp'>;
  /** Gets each answer, the milliseconds it took, and what may itself be to blame. */
  onAnswer: (answer: SubmitAnswer, ms: number, suspect: Suspect) => void;
}

// Behind slow hand-overs a longer wait would only keep other accounts' tasks from being polled.
const PLACE_WAIT_MS = 500;
// The account may be reactivated any time, and up to a hundred thousand e-mails poll for it.
const SUSPENDED_LEAST_MS = 60_000;
const SUSPENDED_MOST_MS = 600_000;
// An unanswered e-mail is retried after half of its age: a provider that is down for hours is not polled every few seconds for each.
const SETTLE_LEAST_MS = 5_000;
const SETTLE_MOST_MS = 5 * 60_000;
// The idempotency key is not used in its last minutes: clocks differ, and a hand-over takes time.
const SETTLE_MARGIN_MS = 10 * 60_000;
// A lost attempt may still be answered, and its answer be stored.
const STORED_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 10_000;
// A moved e-mail stays on a broken route for a while: no ping-pong between two failing routes.
const MOVE_AGAIN_MS = 60_000;

/**
 * @param moves how often the e-mail has moved to another route
 * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, retryable; `UnknownEmail`, not retryable
 */
export async function handOverEmail(
  handing: HandOverContext,
  id: string,
  moves: number,
): Promise<HandedOver> {
  const { sql, provider } = handing;
  const email = await readSubmittableEmail(sql, id);
  if (email === null) throw unknownEmail(id);
  addIds({ accountId: email.accountId, requestId: email.requestId });
  if (email.leavesOut) {
    await leaveOutSuppressed(sql, id);
    return await handOverEmail(handing, id, moves);
  }
  const kept = await preSubmitCheck(handing, email, moves);
  if (kept !== null) return kept;
  const gate = provider.email;
  if (gate === undefined) return await moveOn(handing, email, { code: 'no_email' }, moves);
  const { claim, answer } = await handing.places.run(
    email.accountId,
    () => submit(handing, gate, email),
    placeSoon(),
  );
  if (answer.kind === 'withheld') throw retryLater('it changed while it was to leave', 0);
  if (answer.kind === 'accepted') handing.retries.reset(toRoute(email));
  return await handleAnswer(handing, gate, email, { answer, claim, moves });
}

function placeSoon(): AcquireDeadline {
  const { attempt } = Context.current().info;
  return {
    until: Date.now() + PLACE_WAIT_MS,
    error: () => retryLater('its account has enough under way', usualRetryDelay(attempt)),
  };
}

/** Why the e-mail is not to be handed over here and now; null: it is. */
async function preSubmitCheck(
  handing: HandOverContext,
  email: SubmittableEmail,
  moves: number,
): Promise<HandedOver | null> {
  const { sql, provider, retries } = handing;
  const { id, accountId, status, submission, route } = email;
  // An earlier attempt got an answer and its result was lost, or an event proved the hand-over.
  if (status !== 'queued') return { status: isOver(status) ? 'failed' : 'sent' };
  if (route !== provider.name) return { status: 'moved', route };
  if (submission === 'submitting' || submission === 'unanswered') {
    if (canSettle(provider.email, email)) return null;
    const openForMs = submission === 'submitting' ? answeredWithin(provider.email, email) : 0;
    if (openForMs > 0)
      throw retryLater('an earlier try may be answered yet', Math.min(openForMs, LOOK_AGAIN_MS));
    await markEmailUnanswered(sql, id, null);
    return { status: 'unanswered' };
  }
  if (email.accountStatus === 'closed') return await failed(sql, id, 'account_closed');
  if (email.accountStatus === 'suspended') {
    const pauseMs = suspendedPause();
    throw retryLater('its account is suspended', retries.delayFor(accountId, pauseMs) ?? pauseMs);
  }
  retries.reset(accountId);
  if (email.domainId === null) return await failed(sql, id, 'sender_domain_removed');
  if (!email.verifiedRoutes.includes(route))
    return await moveOn(handing, email, { code: 'domain_unverified' }, moves);
  return null;
}

/** Whether a repeat with the same idempotency key is safe, and still yields the first attempt's result. */
function canSettle(
  gate: EmailProvider | undefined,
  { firstSubmittedAt, keyScope, now }: SubmittableEmail,
): boolean {
  const idempotencyWindowMs = gate?.idempotencyWindowMs ?? 0;
  return (
    (keyScope === null || keyScope === gate?.keyScope) &&
    idempotencyWindowMs > 0 &&
    firstSubmittedAt !== null &&
    now < firstSubmittedAt.getTime() + idempotencyWindowMs - SETTLE_MARGIN_MS
  );
}

// Milliseconds in which the last attempt may still be answered and its answer stored.
function answeredWithin(
  gate: EmailProvider | undefined,
  { firstSubmittedAt, now }: SubmittableEmail,
): number {
  if (gate === undefined || firstSubmittedAt === null) return 0;
  return firstSubmittedAt.getTime() + gate.answerTimeoutMs + STORED_WITHIN_MS - now;
}

function settlePause({ firstSubmittedAt, now }: SubmittableEmail): number {
  const ageMs = firstSubmittedAt === null ? 0 : now - firstSubmittedAt.getTime();
  return Math.min(Math.max(ageMs / 2, SETTLE_LEAST_MS), SETTLE_MOST_MS);
}

function suspendedPause(): number {
  const doublings = Math.min(Context.current().info.attempt - 1, 10);
  return Math.min(SUSPENDED_LEAST_MS * 2 ** doublings, SUSPENDED_MOST_MS);
}

async function submit(
  { sql, provider, pacer, secretsKey, shortUrl, onAnswer }: HandOverContext,
  gate: EmailProvider,
  email: SubmittableEmail,
): Promise<{ claim: number | null; answer: EmailAnswer | NotSubmitted }> {
  const { id, submission } = email;
  const first = submission === 'waiting';
  let claim: number | null = null;
  let left = performance.now();
  const steps = {
    async prepare() {
      claim = await claimEmail(sql, id, {
        route: provider.name,
        again: !first,
        keyScope: gate.keyScope ?? null,
      });
      return claim !== null;
    },
    async undo() {
      await releaseClaim(sql, email, claim, null);
      claim = null;
    },
  };
  const leaves = async (): Promise<boolean> => {
    const goes = await pacer.waitForSlot(1, steps, Context.current().cancellationSignal);
    left = performance.now();
    return goes;
  };
  const answer = await answerOf(
    () => gate.submit(submitEmailOf(sql, email, secretsKey, shortUrl), leaves),
    () => claim !== null,
  );
  if (answer.kind !== 'withheld') {
    const ms = performance.now() - left;
    onAnswer(asSubmitAnswer(answer), ms, suspectOf(answer, email));
    observeSubmit(provider.name, answer.kind, ms / 1000);
  }
  return { claim, answer };
}

/** Undoes an attempt that certainly did not reach the provider. @param claim its number; null: never claimed */
async function releaseClaim(
  sql: Database,
  email: SubmittableEmail,
  claim: number | null,
  code: string | null,
): Promise<void> {
  if (claim === null) return;
  const { id, submission } = email;
  const first = submission === 'waiting';
  await storeWithRetry(async () => {
    if (await releaseEmailClaim(sql, id, { claim, first, code })) return;
    // The workflow no longer hands it over. This attempt, stalled for so long, still knows that the provider never got it.
    if (first) await failEmail(sql, id, 'answered_late', claim);
  });
}

// Suppresses the `sent` event.
const NOTHING_SENT = { reportsSent: true } as const;

interface Answered {
  answer: EmailAnswer;
  /** The attempt's number; null if it was answered before the claim. */
  claim: number | null;
  moves: number;
}

async function handleAnswer(
  handing: HandOverContext,
  gate: EmailProvider,
  email: SubmittableEmail,
  { answer, claim, moves }: Answered,
): Promise<HandedOver> {
  const { sql, provider, pacer, emailEvents } = handing;
  const { id, submission } = email;
  const first = submission === 'waiting';
  const code = 'code' in answer ? (answer.code ?? null) : null;
  const back = () => releaseClaim(sql, email, claim, code);
  switch (answer.kind) {
    case 'accepted': {
      const said = { route: provider.name, events: answerEvents(email, answer, gate) };
      await storeWithRetry(() => recordAcceptedEmail(sql, id, answer.providerEmailId, said));
      applyNow(emailEvents, said);
      return { status: 'sent' };
    }
    case 'refused': {
      // The provider may check domain or API key before the idempotency key, so an earlier attempt may still have succeeded.
      if (!first && answer.always !== true) return await stillUnanswered(sql, gate, email, code);
      const said = {
        route: provider.name,
        events: answerEvents(email, { ...answer, providerEmailId: null }, NOTHING_SENT),
      };
      const status = await storeWithRetry(() => refuseEmail(sql, id, { reason: answer.reason, claim }, said));
      applyNow(emailEvents, said);
      return ended(id, status);
    }
    case 'unanswered':
      return await stillUnanswered(sql, gate, email, code, answer.final);
    case 'throttled':
      await pacer.pause(answer.retryAfterMs).catch((error: unknown) => {
        log.warn('the route could not be paused for the other workers', { error });
      });
      await back();
      throw retryLater('the provider throttles', answer.retryAfterMs, code);
    case 'later':
      await back();
      throw retryLater('the provider asks to try later', answer.retryAfterMs, code);
    case 'broken':
      await back();
      // The provider may have it from an earlier attempt: not moved to another route.
      if (!first) throw retryLater('the route does not work', settlePause(email), answer.code);
      return await moveOn(handing, email, answer, moves);
  }
}

// Unknown whether the provider has it; `final`: a repeat would be answered the same.
async function stillUnanswered(
  sql: Database,
  gate: EmailProvider,
  email: SubmittableEmail,
  code: string | null,
  final = false,
): Promise<HandedOver> {
  await storeWithRetry(() => markEmailUnanswered(sql, email.id, code));
  if (gate.idempotencyWindowMs > 0 && !final)
    throw retryLater('the provider gave no answer', settlePause(email), code);
  return { status: 'unanswered' };
}

// If this fails, a worker's loop applies them within seconds.
function applyNow(emailEvents: HandOverContext['emailEvents'], { events }: AnswerEvents): void {
  if (events.length === 0) return;
  emailEvents.catchUp().catch((error: unknown) => {
    log.warn('events of e-mails could not be applied at once', { error });
  });
}

async function failed(sql: Database, id: string, reason: string): Promise<HandedOver> {
  return ended(id, await failEmail(sql, id, reason, null));
}

// Retried if still queued: another attempt is at it.
function ended(id: string, status: EmailStatus | null): HandedOver {
  if (status === null) throw unknownEmail(id);
  if (status === 'queued') throw retryLater('it changed while it was to be given up', 0);
  return { status: isOver(status) ? 'failed' : 'sent' };
}

const isOver = (status: SubmittableEmail['status']): boolean =>
  status === 'failed' || status === 'suppressed';

/** Moves the e-mail to the next working route that its domain is verified for. @throws ApplicationFailure `RouteUnavailable` */
async function moveOn(
  { sql, provider, routing, retries }: HandOverContext,
  email: SubmittableEmail,
  { code, ofSender }: Pick<Extract<EmailAnswer, { kind: 'broken' }>, 'code' | 'ofSender'>,
  moves: number,
): Promise<HandedOver> {
  const { id, accountId, verifiedRoutes } = email;
  const rested = moves === 0 || Date.now() - Context.current().info.scheduledTimestampMs >= MOVE_AGAIN_MS;
  if (rested) {
    const next = workingRoute(
      await routing(),
      emailTraffic(id, accountId),
      (name) => name !== provider.name && verifiedRoutes.includes(name),
    );
    if (next !== null && (await moveEmail(sql, id, provider.name, next)))
      return { status: 'moved', route: next };
  }
  const wantedMs = ofSender?.retryAfterMs;
  const usualMs = wantedMs ?? usualRetryDelay(Context.current().info.attempt);
  throw routeUnavailable(provider.name, code, retries.delayFor(toRoute(email), usualMs) ?? wantedMs);
}

// Retry key of an e-mail without a route: domains are verified one by one.
const toRoute = ({ accountId, domain }: SubmittableEmail): string => `${accountId} ${domain}`;

function retryLater(why: string, afterMs: number, code: string | null = null): ApplicationFailure {
  return throttled(why, Math.max(afterMs, 100), code);
}

/** The answer in the terms of a route's health. */
function asSubmitAnswer(answer: EmailAnswer): SubmitAnswer {
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'accepted', providerMessageId: answer.providerEmailId };
    case 'refused':
      return { kind: 'refused', reason: 'network_refused' };
    case 'throttled':
    case 'later':
    case 'broken':
    case 'unanswered':
      return answer;
  }
}
