import { oneAtATime } from '../concurrency/gather.ts';
import type { Provider } from '../providers/provider.ts';
import type { DeliveryReport, LateAnswer } from '../domain/submission.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import {
  lockReportedMessages,
  type MatchedReport,
  type MessageMove,
  type MovedMessage,
  moveMessages,
  noteOutcomes,
  parseReference,
  type PartChange,
  partNumbers,
  recordPartStates,
  type ReportedMessage,
  storeReports,
  takeMatchedReports,
  WHOLE,
} from '../db/incoming/deliveryReports.ts';
import { acceptParts } from '../db/messages/answers.ts';
import { lockMessage } from '../db/messages/submissions.ts';
import { holdUnanswered } from '../db/messages/unanswered.ts';
import { mergeReport, outcomeOfParts, type ReportState } from '../domain/incoming.ts';
import { countEnd, countReports, observeDelivered, observeSent } from '../telemetry/messageMetrics.ts';
import type { Outcomes } from './outcomes.ts';

const AT_ONCE = 200;
// Whatever is due later than this is left to those who look regularly.
const SOON_MS = 2_000;

/** What happens to delivery reports: stored first, then applied to parts and messages, then signalled to workflows. */
export interface DeliveryReports {
  /** Stores reports; everything after that survives a crash by `catchUp`. */
  receive(route: Provider['name'], reports: DeliveryReport[]): Promise<void>;
  /**
   * Stores what an SMSC said of a submit after that had been given up as unanswered, and signals the workflow. What was submitted on
   * another route since stays as it is: reports come from there.
   */
  receiveLateAnswer(
    route: Provider['name'],
    reference: string,
    answer: LateAnswer,
    arrivedAt: number,
  ): Promise<void>;
  /** Applies stored reports that have met their part, and signals the workflows. */
  catchUp(): Promise<void>;
  /** Ends what it would do by itself. */
  stop(): void;
}

/** @param onError called with failures after the reports were stored; they are made up for by the next `catchUp` */
export function createDeliveryReports(
  sql: Database,
  outcomes: Pick<Outcomes, 'dispatch'>,
  onError: (error: unknown) => void,
): DeliveryReports {
  // Reports come one by one from each session: those that come meanwhile share the next statements.
  const apply = oneAtATime(async () => {
    for (let looked = AT_ONCE; looked === AT_ONCE;) {
      const applied = await transaction(sql, applyReports);
      for (const moved of applied.moved) measure(moved);
      looked = applied.looked;
      if (applied.againInMs < SOON_MS) lookAgain(applied.againInMs);
    }
  });
  let stopped = false;
  let soon: { at: number; timer: NodeJS.Timeout } | undefined;
  const lookAgain = (ms: number): void => {
    const at = Date.now() + ms;
    if (stopped || (soon !== undefined && soon.at <= at)) return;
    clearTimeout(soon?.timer);
    const timer = setTimeout(() => {
      soon = undefined;
      void catchUp().catch(onError);
    }, ms);
    soon = { at, timer };
  };
  const catchUp = async (): Promise<void> => {
    await apply();
    await outcomes.dispatch();
  };
  // Whoever handed something over is not kept waiting for what comes of it.
  const applyNow = async (): Promise<void> => {
    await apply();
    void outcomes.dispatch().catch(onError);
  };
  return {
    catchUp,
    stop() {
      stopped = true;
      clearTimeout(soon?.timer);
    },
    async receive(route, reports) {
      await storeReports(sql, route, reports);
      countReports(route, reports);
      await applyNow().catch(onError);
    },
    async receiveLateAnswer(route, reference, answer, arrivedAt) {
      await storeLateAnswer(sql, { route, reference, answer, arrivedAt });
      await applyNow().catch(onError);
    },
  };
}

// Whatever the reason for not taking it: the message is submitted again, and gets that answer in time.
async function storeLateAnswer(
  sql: Database,
  {
    route,
    reference,
    answer,
    arrivedAt,
  }: { route: string; reference: string; answer: LateAnswer; arrivedAt: number },
): Promise<void> {
  const submitted = parseReference(reference);
  if (submitted === null) return;
  const { messageId, part } = submitted;
  const sentAfterSeconds = await transaction(sql, async (tx) => {
    // The transaction's instant is past: the answer counts as older than it is, never as younger.
    const agoMs = performance.now() - arrivedAt;
    // Answers to several parts come in one burst: each has to see what the one before it left.
    await lockMessage(tx, messageId);
    const parts = (await partNumbers(tx, messageId, route)).filter((one) => part === WHOLE || one === part);
    if (parts.length === 0) return null;
    if (answer.kind === 'accepted') {
      return (await acceptParts(tx, { messageId, parts }, answer.providerMessageId)).sentAfterSeconds;
    }
    await holdUnanswered(tx, { messageId, parts }, { agoMs }, answer.code ?? null);
    return null;
  });
  observeSent(sentAfterSeconds);
}

function measure({ to, afterSeconds }: MovedMessage): void {
  countEnd(to);
  if (to === 'sent') observeSent(afterSeconds);
  if (to === 'delivered') observeDelivered(afterSeconds);
}

/** What applying reports came to: how many were looked at, and the messages moved by them. */
interface Applied {
  looked: number;
  /** When the first of those that met nothing is to be looked at again. */
  againInMs: number;
  moved: MovedMessage[];
}

/** One transaction: takes stored reports, moves parts and messages, notes whom to signal. */
async function applyReports(tx: Sql): Promise<Applied> {
  const { reports, ...seen } = await takeMatchedReports(tx, AT_ONCE);
  if (reports.length === 0) return { ...seen, moved: [] };
  const messages = await lockReportedMessages(tx, [...new Set(reports.map((report) => report.messageId))]);

  const changes = messages.flatMap((message) => mergeIntoParts(message, reports));
  if (changes.length > 0) await recordPartStates(tx, changes);

  const ends = messages.flatMap((message) => movesOf(message));
  const toSent = ends.filter((move) => move.to === 'sent');
  const toEnd = ends.filter((move) => move.to !== 'sent');
  const sent = toSent.length > 0 ? await moveMessages(tx, toSent) : [];
  const ended = toEnd.length > 0 ? await moveMessages(tx, toEnd) : [];
  const sentEvents = eventsOf(sent);
  const endEvents = eventsOf(ended);

  const last = new Map(ends.map((move) => [move.messageId, move.to]));
  const outcomes = [...last].map(([messageId, status]) => ({
    messageId,
    status,
    events: [sentEvents.get(messageId), endEvents.get(messageId)].filter((id) => typeof id === 'string'),
  }));
  await noteOutcomes(tx, outcomes, [...new Set(reports.map((report) => report.reportId))]);
  return { ...seen, moved: [...sent, ...ended] };
}

function eventsOf(moved: MovedMessage[]): Map<string, string | null> {
  return new Map(moved.map(({ messageId, event }) => [messageId, event]));
}

/** Applies the reports of one message to its parts in place, and returns what changed. */
function mergeIntoParts(message: ReportedMessage, reports: MatchedReport[]): PartChange[] {
  const changed = new Map<number, PartChange>();
  for (const report of reports) {
    const part = message.states.find(
      (state) => report.messageId === message.id && state.part === report.part,
    );
    if (!part) continue;
    const merged: ReportState = mergeReport(part.reportState, report.state);
    if (merged === part.reportState && part.accepted) continue;
    part.reportState = merged;
    part.accepted = true;
    changed.set(part.part, {
      messageId: message.id,
      part: part.part,
      reportState: merged,
      providerMessageId: report.providerMessageId,
    });
  }
  return [...changed.values()];
}

/** The moves that the parts' states call for: to `sent` where a report proves an unanswered submit, then to its end. */
function movesOf(message: ReportedMessage): MessageMove[] {
  const complete = message.states.length === message.parts && message.states.every((part) => part.accepted);
  if (!complete || (message.status !== 'queued' && message.status !== 'sent')) return [];
  const moves: MessageMove[] = [];
  if (message.status === 'queued') moves.push({ messageId: message.id, from: 'queued', to: 'sent' });
  const end = outcomeOfParts(message.states.map((part) => part.reportState));
  if (end) moves.push({ messageId: message.id, from: 'sent', to: end });
  return moves;
}
