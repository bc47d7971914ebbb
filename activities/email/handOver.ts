import { type ApplicationFailure, Context, log } from '@temporalio/activity';
import type { Database } from '../../db/connection.ts';
import {
  acceptEmail,
  type AnswerEvents,
  claimEmail,
  failEmail,
  leaveEmailUnanswered,
  leaveOutSuppressed,
  moveEmail,
  type OpenEmail,
  putEmailBack,
  readOpenEmail,
  refuseEmail,
} from '../../db/emails/handOver.ts';
import type { EmailStatus } from '../../domain/email/statuses.ts';
import { emailTraffic, type Routing, workingRoute } from '../../domain/routing.ts';
import type { SubmitAnswer, Suspect } from '../../domain/submission.ts';
import type { EmailEvents } from '../../pipeline/emailEvents.ts';
import type { RetryPace } from '../../concurrency/retryPace.ts';
import type { Limit, Semaphore } from '../../concurrency/semaphore.ts';
import type { Pacer } from '../../db/routes/pacing.ts';
import { type EmailAnswer, type EmailGate, suspectOf } from '../../providers/email.ts';
import type { Provider, NotSubmitted } from '../../providers/provider.ts';
import { addIds } from '../../telemetry/ids.ts';
import { observeSubmit } from '../../telemetry/messageMetrics.ts';
import type { HandedOver } from '../../workflows/contracts.ts';
import { routeUnavailable, throttled, unknownEmail, usualPause } from '../failures.ts';
import { untilStored } from '../submission/storing.ts';
import { answerEvents, submitEmailOf } from './content.ts';

/** What handing over on one route needs. */
export interface HandingOver {
  sql: Database;
  provider: Provider;
  pacer: Pacer;
  secretsKey: Buffer;
  /** Where unsubscribe links lead: with scheme, without a slash at the end. */
  shortUrl: string;
  routing: () => Promise<Routing>;
  /** Of the hand-overs under way here, by account. */
  places: Semaphore<string>;
  /** Of the e-mails of each suspended account, and of each domain that find no route to move to. */
  retries: RetryPace;
  emailEvents: Pick<EmailEvents, 'catchUp'>;
  /** Notified how every hand-over was answered, after how many milliseconds, and what may itself be to blame. */
  onAnswer: (answer: SubmitAnswer, ms: number, suspect: Suspect) => void;
}

// While hand-overs are quick a place is free sooner; behind slow ones whoever waits for longer keeps other accounts' from being looked at.
const PLACE_WAIT_MS = 500;
// A suspended account may be active again any time, and may have a hundred thousand e-mails that ask whether it is.
const SUSPENDED_LEAST_MS = 60_000;
const SUSPENDED_MOST_MS = 600_000;
// An e-mail without an answer is asked about again after half of the time that it has been so: a provider that is ill for hours is not asked
// every few seconds about each.
const SETTLE_LEAST_MS = 5_000;
const SETTLE_MOST_MS = 5 * 60_000;
// A provider's key is not used in its last minutes: the clocks differ, and a hand-over takes its time.
const SETTLE_MARGIN_MS = 10 * 60_000;
// An earlier try that was lost may still be answered, and its answer takes a while to be stored.
const STORED_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 10_000;
// One that moved before stays on a broken route for a while: avoids ping-pong between two failing routes.
const MOVE_AGAIN_MS = 60_000;

/**
 * Hands an e-mail over by this route.
 * @param moves how often it has moved to another route so far
 * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, to be tried again; `UnknownEmail`, for good
 */
export async function handOverEmail(handing: HandingOver, id: string, moves: number): Promise<HandedOver> {
  const { sql, provider } = handing;
  const email = await readOpenEmail(sql, id);
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
    () => leave(handing, gate, email),
    placeSoon(),
  );
  if (answer.kind === 'withheld') throw tryAgain('it changed while it was to leave', 0);
  if (answer.kind === 'accepted') handing.retries.reset(toRoute(email));
  return await takeAnswer(handing, gate, email, { answer, claim, moves });
}

/** The wait for a place of its account's. */
function placeSoon(): Limit {
  const { attempt } = Context.current().info;
  return {
    until: Date.now() + PLACE_WAIT_MS,
    error: () => tryAgain('its account has enough under way', usualPause(attempt)),
  };
}

/** What keeps an e-mail from being handed over here and now; null when nothing does. */
async function preSubmitCheck(
  handing: HandingOver,
  email: OpenEmail,
  moves: number,
): Promise<HandedOver | null> {
  const { sql, provider, retries } = handing;
  const { id, accountId, status, submission, route } = email;
  // An earlier attempt came this far and its result was lost, or an event proved it.
  if (status !== 'queued') return { status: isOver(status) ? 'failed' : 'sent' };
  if (route !== provider.name) return { status: 'moved', route };
  if (submission === 'submitting' || submission === 'unanswered') {
    if (canSettle(provider.email, email)) return null;
    const openForMs = submission === 'submitting' ? answeredWithin(provider.email, email) : 0;
    if (openForMs > 0)
      throw tryAgain('an earlier try may be answered yet', Math.min(openForMs, LOOK_AGAIN_MS));
    await leaveEmailUnanswered(sql, id, null);
    return { status: 'unanswered' };
  }
  if (email.accountStatus === 'closed') return await failed(sql, id, 'account_closed');
  if (email.accountStatus === 'suspended') {
    const pauseMs = suspendedPause();
    throw tryAgain('its account is suspended', retries.beyond(accountId, pauseMs) ?? pauseMs);
  }
  retries.reset(accountId);
  if (email.domainId === null) return await failed(sql, id, 'sender_domain_removed');
  if (!email.verifiedRoutes.includes(route))
    return await moveOn(handing, email, { code: 'domain_unverified' }, moves);
  return null;
}

/** Whether the provider, asked again with the same id, still says what became of the first time. */
function canSettle(gate: EmailGate | undefined, { firstSubmittedAt, keyScope, now }: OpenEmail): boolean {
  const settlesForMs = gate?.settlesForMs ?? 0;
  return (
    (keyScope === null || keyScope === gate?.keyScope) &&
    settlesForMs > 0 &&
    firstSubmittedAt !== null &&
    now < firstSubmittedAt.getTime() + settlesForMs - SETTLE_MARGIN_MS
  );
}

/** How long the last try may still be answered, and its answer be stored, in milliseconds. */
function answeredWithin(gate: EmailGate | undefined, { firstSubmittedAt, now }: OpenEmail): number {
  if (gate === undefined || firstSubmittedAt === null) return 0;
  return firstSubmittedAt.getTime() + gate.answersWithinMs + STORED_WITHIN_MS - now;
}

/** How long to wait before the provider is asked again what became of an e-mail. */
function settlePause({ firstSubmittedAt, now }: OpenEmail): number {
  const ageMs = firstSubmittedAt === null ? 0 : now - firstSubmittedAt.getTime();
  return Math.min(Math.max(ageMs / 2, SETTLE_LEAST_MS), SETTLE_MOST_MS);
}

/** How long to wait before it is looked again whether an account is still suspended: twice as long at each try. */
function suspendedPause(): number {
  const doublings = Math.min(Context.current().info.attempt - 1, 10);
  return Math.min(SUSPENDED_LEAST_MS * 2 ** doublings, SUSPENDED_MOST_MS);
}

async function leave(
  { sql, provider, pacer, secretsKey, shortUrl, onAnswer }: HandingOver,
  gate: EmailGate,
  email: OpenEmail,
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
      await putBack(sql, email, claim, null);
      claim = null;
    },
  };
  const leaves = async (): Promise<boolean> => {
    const goes = await pacer.turn(1, steps, Context.current().cancellationSignal);
    left = performance.now();
    return goes;
  };
  const answer = await answerOf(
    gate,
    submitEmailOf(sql, email, secretsKey, shortUrl),
    leaves,
    () => claim !== null,
  );
  if (answer.kind !== 'withheld') {
    const ms = performance.now() - left;
    onAnswer(asSubmitAnswer(answer), ms, suspectOf(answer, email));
    observeSubmit(provider.name, answer.kind, ms / 1000);
  }
  return { claim, answer };
}

/** Takes a try back that the provider certainly has not got. @param claim its number; null: it never came to leave */
async function putBack(
  sql: Database,
  email: OpenEmail,
  claim: number | null,
  code: string | null,
): Promise<void> {
  if (claim === null) return;
  const { id, submission } = email;
  const first = submission === 'waiting';
  await untilStored(async () => {
    if (await putEmailBack(sql, id, { claim, first, code })) return;
    // Its workflow waits for events of it and hands nothing over any more: whoever stood still for so long knows at least that nobody has it.
    if (first) await failEmail(sql, id, 'answered_late', claim);
  });
}

async function answerOf(
  gate: EmailGate,
  email: Parameters<EmailGate['submit']>[0],
  leaves: () => Promise<boolean>,
  claimed: () => boolean,
): Promise<EmailAnswer | NotSubmitted> {
  try {
    return await gate.submit(email, leaves);
  } catch (error) {
    // What was not even claimed has not left.
    if (!claimed()) throw error;
    log.error('the provider broke in the middle of a hand-over', { error });
    return { kind: 'unanswered' };
  }
}

// What an answer says beside that it is sent.
const NOTHING_SENT = { reportsSent: true } as const;

interface Answered {
  answer: EmailAnswer;
  /** The number of the try; null where it was answered before it left. */
  claim: number | null;
  moves: number;
}

async function takeAnswer(
  handing: HandingOver,
  gate: EmailGate,
  email: OpenEmail,
  { answer, claim, moves }: Answered,
): Promise<HandedOver> {
  const { sql, provider, pacer, emailEvents } = handing;
  const { id, submission } = email;
  const first = submission === 'waiting';
  const code = 'code' in answer ? (answer.code ?? null) : null;
  const back = () => putBack(sql, email, claim, code);
  switch (answer.kind) {
    case 'accepted': {
      const said = { route: provider.name, events: answerEvents(email, answer, gate) };
      await untilStored(() => acceptEmail(sql, id, answer.providerEmailId, said));
      applyNow(emailEvents, said);
      return { status: 'sent' };
    }
    case 'refused': {
      // What changes between tries (the domain, the API key) may be looked at before the key is: the earlier one may have been taken.
      if (!first && answer.always !== true) return await stillUnanswered(sql, gate, email, code);
      const said = {
        route: provider.name,
        events: answerEvents(email, { ...answer, providerEmailId: null }, NOTHING_SENT),
      };
      const status = await untilStored(() => refuseEmail(sql, id, { reason: answer.reason, claim }, said));
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
      throw tryAgain('the provider throttles', answer.retryAfterMs, code);
    case 'later':
      await back();
      throw tryAgain('the provider asks to try later', answer.retryAfterMs, code);
    case 'broken':
      await back();
      // What it may have taken stays with it.
      if (!first) throw tryAgain('the route does not work', settlePause(email), answer.code);
      return await moveOn(handing, email, answer, moves);
  }
}

/**
 * Nobody knows whether the provider has it.
 * @param final asked again it would say the same
 * @throws ApplicationFailure where it is asked again
 */
async function stillUnanswered(
  sql: Database,
  gate: EmailGate,
  email: OpenEmail,
  code: string | null,
  final = false,
): Promise<HandedOver> {
  await untilStored(() => leaveEmailUnanswered(sql, email.id, code));
  if (gate.settlesForMs > 0 && !final)
    throw tryAgain('the provider gave no answer', settlePause(email), code);
  return { status: 'unanswered' };
}

/** Has what an answer said applied at once; where that fails a worker comes to it within seconds. */
function applyNow(emailEvents: HandingOver['emailEvents'], { events }: AnswerEvents): void {
  if (events.length === 0) return;
  emailEvents.catchUp().catch((error: unknown) => {
    log.warn('events of e-mails could not be applied at once', { error });
  });
}

/** Gives up what was never tried. */
async function failed(sql: Database, id: string, reason: string): Promise<HandedOver> {
  return ended(id, await failEmail(sql, id, reason, null));
}

/** @throws ApplicationFailure where it is still to be handed over, since somebody else tries it */
function ended(id: string, status: EmailStatus | null): HandedOver {
  if (status === null) throw unknownEmail(id);
  if (status === 'queued') throw tryAgain('it changed while it was to be given up', 0);
  return { status: isOver(status) ? 'failed' : 'sent' };
}

/** Whether it has ended with nothing handed over. */
const isOver = (status: OpenEmail['status']): boolean => status === 'failed' || status === 'suppressed';

/**
 * The route cannot: the next one that works, and for which the domain is verified, gets the e-mail.
 * @throws ApplicationFailure `RouteUnavailable`, to be tried again here
 */
async function moveOn(
  { sql, provider, routing, retries }: HandingOver,
  email: OpenEmail,
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
  const usualMs = wantedMs ?? usualPause(Context.current().info.attempt);
  throw routeUnavailable(provider.name, code, retries.beyond(toRoute(email), usualMs) ?? wantedMs);
}

/** What an e-mail waits for that no route takes: it is verified domain by domain. */
const toRoute = ({ accountId, domain }: OpenEmail): string => `${accountId} ${domain}`;

function tryAgain(why: string, afterMs: number, code: string | null = null): ApplicationFailure {
  return throttled(why, Math.max(afterMs, 100), code);
}

/** The answer, as the health of a route is judged by. */
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
