import { type ApplicationFailure, Context, log } from '@temporalio/activity';
import type { Database } from '../../db/connection.ts';
import {
  acceptEmail,
  claimEmail,
  failEmail,
  leaveEmailUnanswered,
  moveEmail,
  type OpenEmail,
  putEmailBack,
  readOpenEmail,
} from '../../db/emails/handOver.ts';
import { emailTraffic, type Routing, workingRoute } from '../../domain/routing.ts';
import type { SubmitAnswer } from '../../domain/submission.ts';
import type { EmailEvents } from '../../pipeline/emailEvents.ts';
import type { Pacer } from '../../pipeline/pacing.ts';
import type { EmailAnswer, EmailGate } from '../../providers/email.ts';
import type { Provider, Withheld } from '../../providers/provider.ts';
import { addIds } from '../../telemetry/ids.ts';
import { observeSubmit } from '../../telemetry/messageMetrics.ts';
import type { HandedOver } from '../../workflows/contracts.ts';
import { routeUnavailable, throttled, unknownEmail } from '../failures.ts';
import { untilStored } from '../submission/storing.ts';
import { submitEmailOf } from './content.ts';
import { answerEvents } from './events.ts';

/** What handing over on one route needs. */
export interface HandingOver {
  sql: Database;
  provider: Provider;
  pacer: Pacer;
  secretsKey: Buffer;
  /** Where unsubscribe links lead: with scheme, without a slash at the end. */
  shortUrl: string;
  routing: () => Promise<Routing>;
  emailEvents: Pick<EmailEvents, 'receive'>;
  /** Notified how every hand-over was answered, and after how many milliseconds. */
  onAnswer: (answer: SubmitAnswer, ms: number) => void;
}

// A suspended account may be active again any time.
const SUSPENDED_MS = 60_000;
// How an e-mail without an answer is asked about again.
const SETTLE_AFTER_MS = 5_000;
// A provider's key is not used in its last minutes: the clocks differ, and a hand-over takes its time.
const SETTLE_MARGIN_MS = 10 * 60_000;
// One that moved before stays on a broken route for a while: two broken ones do not play ball.
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
  const kept = await keptFromLeaving(handing, email, moves);
  if (kept !== null) return kept;
  const gate = provider.email;
  if (gate === undefined) return await moveOn(handing, email, 'no_email', moves);
  const { claimed, answer } = await leave(handing, gate, email);
  if (answer.kind === 'withheld') throw tryAgain('it changed while it was to leave', 0);
  return await takeAnswer(handing, gate, email, { answer, claimed, moves });
}

/** What keeps an e-mail from being handed over here and now; null when nothing does. */
async function keptFromLeaving(
  handing: HandingOver,
  email: OpenEmail,
  moves: number,
): Promise<HandedOver | null> {
  const { sql, provider } = handing;
  const { id, status, submission, route } = email;
  // An earlier attempt came this far and its result was lost, or an event proved it.
  if (status !== 'queued') return { status: status === 'failed' ? 'failed' : 'sent' };
  if (route !== provider.name) return { status: 'moved', route };
  if (submission === 'submitting' || submission === 'unanswered') {
    if (canSettle(provider.email, email)) return null;
    await leaveEmailUnanswered(sql, id, null);
    return { status: 'unanswered' };
  }
  if (email.accountStatus === 'closed') return await failed(sql, id, 'account_closed');
  if (email.accountStatus === 'suspended') throw tryAgain('its account is suspended', SUSPENDED_MS);
  if (email.domainId === null) return await failed(sql, id, 'sender_domain_removed');
  if (!email.verifiedRoutes.includes(route)) return await moveOn(handing, email, 'domain_unverified', moves);
  return null;
}

/** Whether the provider, asked again with the same id, still says what became of the first time. */
function canSettle(gate: EmailGate | undefined, { firstSubmittedAt, now }: OpenEmail): boolean {
  const settlesForMs = gate?.settlesForMs ?? 0;
  return (
    settlesForMs > 0 &&
    firstSubmittedAt !== null &&
    now < firstSubmittedAt.getTime() + settlesForMs - SETTLE_MARGIN_MS
  );
}

async function leave(
  { sql, provider, pacer, secretsKey, shortUrl, onAnswer }: HandingOver,
  gate: EmailGate,
  email: OpenEmail,
): Promise<{ claimed: boolean; answer: EmailAnswer | Withheld }> {
  const { id, submission } = email;
  const first = submission === 'waiting';
  let claimed = false;
  let left = performance.now();
  const steps = {
    async prepare() {
      claimed = await claimEmail(sql, id, provider.name, !first);
      return claimed;
    },
    async undo() {
      await untilStored(() => putEmailBack(sql, id, first, null));
      claimed = false;
    },
  };
  const leaves = async (): Promise<boolean> => {
    const goes = await pacer.turn(1, steps, Context.current().cancellationSignal);
    left = performance.now();
    return goes;
  };
  const answer = await answerOf(gate, submitEmailOf(sql, email, secretsKey, shortUrl), leaves, () => claimed);
  if (answer.kind !== 'withheld') {
    const ms = performance.now() - left;
    onAnswer(asSubmitAnswer(answer), ms);
    observeSubmit(provider.name, answer.kind, ms / 1000);
  }
  return { claimed, answer };
}

async function answerOf(
  gate: EmailGate,
  email: Parameters<EmailGate['submit']>[0],
  leaves: () => Promise<boolean>,
  claimed: () => boolean,
): Promise<EmailAnswer | Withheld> {
  try {
    return await gate.submit(email, leaves);
  } catch (error) {
    // What was not even claimed has not left.
    if (!claimed()) throw error;
    log.error('the provider broke in the middle of a hand-over', { error });
    return { kind: 'unanswered' };
  }
}

interface Answered {
  answer: EmailAnswer;
  claimed: boolean;
  moves: number;
}

async function takeAnswer(
  handing: HandingOver,
  gate: EmailGate,
  email: OpenEmail,
  { answer, claimed, moves }: Answered,
): Promise<HandedOver> {
  const { sql, provider, pacer, emailEvents } = handing;
  const { id, submission } = email;
  const first = submission === 'waiting';
  const code = 'code' in answer ? (answer.code ?? null) : null;
  const back = async (): Promise<void> => {
    if (claimed) await untilStored(() => putEmailBack(sql, id, first, code));
  };
  switch (answer.kind) {
    case 'accepted': {
      await untilStored(() => acceptEmail(sql, id, answer.providerEmailId));
      const events = answerEvents(email, answer, gate);
      // The e-mail is sent whatever comes of that: a repeated attempt finds it so.
      if (events.length > 0) await untilStored(() => emailEvents.receive(provider.name, events));
      return { status: 'sent' };
    }
    case 'refused':
      return await untilStored(() => failed(sql, id, answer.reason, claimed));
    case 'unanswered':
      await untilStored(() => leaveEmailUnanswered(sql, id, code));
      if (gate.settlesForMs > 0) throw tryAgain('the provider gave no answer', SETTLE_AFTER_MS);
      return { status: 'unanswered' };
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
      if (!first) throw tryAgain('the route does not work', SETTLE_AFTER_MS, answer.code);
      return await moveOn(handing, email, answer.code, moves);
  }
}

/** @param tried a hand-over may have begun that was refused now */
async function failed(sql: Database, id: string, reason: string, tried = false): Promise<HandedOver> {
  const status = await failEmail(sql, id, reason, { tried });
  if (status === null) throw unknownEmail(id);
  return { status: status === 'failed' ? 'failed' : 'sent' };
}

/**
 * The route cannot: the next one that works, and for which the domain is verified, gets the e-mail.
 * @throws ApplicationFailure `RouteUnavailable`, to be tried again here
 */
async function moveOn(
  { sql, provider, routing }: HandingOver,
  { id, accountId, verifiedRoutes }: OpenEmail,
  code: string,
  moves: number,
): Promise<HandedOver> {
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
  throw routeUnavailable(provider.name, code);
}

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
