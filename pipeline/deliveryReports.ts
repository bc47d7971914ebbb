import { coalesceRuns } from '../concurrency/gather.ts';
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
import type { OutcomeDispatcher } from './outcomes.ts';

const BATCH_SIZE = 200;
// Reports due later than this are left to the periodic catch-up.
const SOON_MS = 2_000;

/** Stores delivery reports, applies them to parts and messages, then signals the workflows. */
export interface DeliveryReports {
  /** Stores reports. A crash after that loses nothing: `catchUp` applies them. */
  receive(route: Provider['name'], reports: DeliveryReport[]): Promise<void>;
  /** Stores an SMSC's answer to a submit given up as unanswered, unless the part was submitted on another route since. */
  receiveLateAnswer(
    route: Provider['name'],
    reference: string,
    answer: LateAnswer,
    arrivedAt: number,
  ): Promise<void>;
  /** Applies stored reports that match a part, and signals the workflows. */
  catchUp(): Promise<void>;
  stop(): void;
}

/** @param onError gets failures after the reports were stored; the next `catchUp` retries them */
export function createDeliveryReports(
  sql: Database,
  outcomes: Pick<OutcomeDispatcher, 'dispatch'>,
  onError: (error: unknown) => void,
): DeliveryReports {
  // Sessions deliver reports one by one: those that arrive during a run share the next batch.
  const apply = coalesceRuns(async () => {
    for (let looked = BATCH_SIZE; looked === BATCH_SIZE;) {
      const applied = await transaction(sql, applyReports);
      for (const moved of applied.moved) measure(moved);
      looked = applied.looked;
      if (applied.againInMs < SOON_MS) scheduleCatchUp(applied.againInMs);
    }
  });
  let stopped = false;
  let soon: { at: number; timer: NodeJS.Timeout } | undefined;
  const scheduleCatchUp = (ms: number): void => {
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
  // The provider's acknowledgement does not wait for the workflows.
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
      await storeLateAnswer(sql, route, reference, answer, arrivedAt);
      await applyNow().catch(onError);
    },
  };
}

// A late rejection has the message submitted again, whatever its code: a lasting error is answered in time on the next submit.
async function storeLateAnswer(
  sql: Database,
  route: string,
  reference: string,
  answer: LateAnswer,
  arrivedAt: number,
): Promise<void> {
  const submitted = parseReference(reference);
  if (submitted === null) return;
  const { messageId, part } = submitted;
  const sentAfterSeconds = await transaction(sql, async (tx) => {
    // SQL subtracts this from now(), the transaction's start: the answer may count as older than it is, never as younger.
    const agoMs = performance.now() - arrivedAt;
    // Late answers to several parts arrive in a burst: each has to see the changes of the one before.
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

async function applyReports(tx: Sql) {
  const { reports, ...seen } = await takeMatchedReports(tx, BATCH_SIZE);
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

/** The moves that the parts call for: to `sent` where a report proves an unanswered submit, then to the final status. */
function movesOf(message: ReportedMessage): MessageMove[] {
  const complete = message.states.length === message.parts && message.states.every((part) => part.accepted);
  if (!complete || (message.status !== 'queued' && message.status !== 'sent')) return [];
  const moves: MessageMove[] = [];
  if (message.status === 'queued') moves.push({ messageId: message.id, from: 'queued', to: 'sent' });
  const end = outcomeOfParts(message.states.map((part) => part.reportState));
  if (end) moves.push({ messageId: message.id, from: 'sent', to: end });
  return moves;
}
