import type { Client } from '@temporalio/client';
import type { Sql } from '../../db/connection.ts';
import { linksOfMessage } from '../../db/links/links.ts';
import { readFacts, readHead, readInternalFacts } from '../../db/messages/history.ts';
import { readRoute } from '../../db/routes/routes.ts';
import { type DeliveryRow, type Exchange, readDelivery } from '../../db/webhooks/webhookDeliveries.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { reasonForStaff } from '../../domain/statuses.ts';
import { internalTimeline, type PartFacts, type TimelineEntry } from '../../domain/timeline.ts';
import { providerKinds } from '../../providers/registry.ts';
import { type ActRecord, recordedAfter } from '../staff.ts';
import { withBodies } from '../webhooks/deliveries.ts';
import { actsOfMessage, type PossibleAct } from './possibleActs.ts';
import { type KnownWorkflow, readWorkflow, type WorkflowView } from './workflow.ts';

export interface Sources {
  sql: Sql;
  temporal: () => Promise<Client>;
}

/** A webhook event, with bodies and answers only where asked for. */
export interface FollowedDelivery extends DeliveryRow {
  body?: string;
  attempts: (DeliveryRow['attempts'][number] & Partial<Exchange>)[];
}

/** What a message and an e-mail have in common for staff. */
export interface Followed {
  timeline: TimelineEntry[];
  /** The latest webhook events, the first one first. */
  deliveries: FollowedDelivery[];
  /** Null as in {@link KnownWorkflow}. */
  workflow: WorkflowView | null;
  /** Why Temporal could not be asked; null: it was. */
  fault: string | null;
  acts: PossibleAct[];
}

interface ShownPart extends PartFacts {
  /** The provider's code explained; null: it has none. */
  meaning: string | null;
}

interface ShownLink {
  token: string;
  clicks: number;
  /** Only where asked for. */
  url?: string;
}

type Message = Awaited<ReturnType<typeof readMessage>>['message'];
export type MessageView = Message & Followed & { partStates: ShownPart[]; links: ShownLink[] };

/** Answered in full only where asked for, which the audit log keeps. */
export interface MessageInput {
  id: string;
  /** With the number, the text, and what webhooks were sent and answered. */
  text: boolean;
}

/** A message's whole way, as database and Temporal know it, and what can be done about it. @throws StaffRefused message_missing */
export async function viewMessage(
  { sql, temporal }: Sources,
  { id, text }: MessageInput,
): Promise<ActRecord & { data: MessageView }> {
  const { message, facts, erasedAt } = await readMessage(sql, id, text);
  const timeline = internalTimeline(facts, await readInternalFacts(sql, facts));
  const workflow = await readWorkflow(temporal, id);
  const way = await followed(sql, timeline, workflow, text);
  const links = await linksOfMessage(sql, message.accountId, id);
  const data = {
    ...message,
    ...way,
    partStates: await explained(sql, facts.parts),
    links: links.map(({ token, clicks, url }) => ({ token, clicks, ...(text ? { url } : {}) })),
    acts: await actsOfMessage(sql, { id, erasedAt }, workflow, way.deliveries),
  };
  return { data, account: message.accountId, subject: id, details: text ? { text: true } : {} };
}

/** The same for the console, with its audit record. */
export const showMessage = recordedAfter('messages show', viewMessage);

async function readMessage(sql: Sql, id: string, text: boolean) {
  const facts = await readFacts(sql, id, null);
  if (facts === null) throw new StaffRefused({ reason: 'message_missing', message: id });
  const { accountId, requestId, status, errorCode, parts, route, sendAt } = facts.message;
  const { recipient, sender, text: body, pausedSince, erasedAt, ...head } = await readHead(sql, id);
  const message = {
    ...{ id, accountId, requestId, status, error: errorCode },
    reason: errorCode === null ? null : reasonForStaff(errorCode),
    to: text ? recipient : maskMsisdn(recipient),
    from: sender,
    ...{ parts, route, sendAt },
    ...head,
    ...(pausedSince === null ? {} : { pausedSince }),
    ...(text ? { text: body } : {}),
  };
  return { message, facts, erasedAt };
}

async function explained(sql: Sql, parts: readonly PartFacts[]): Promise<ShownPart[]> {
  const all: ShownPart[] = [];
  for (const part of parts) all.push({ ...part, meaning: await codeInWords(sql, part.route, part.code) });
  return all;
}

/** A provider's code as its kind explains it to staff; null: there is none. */
export async function codeInWords(sql: Sql, route: string, code: string | null): Promise<string | null> {
  if (code === null) return null;
  const kind = providerKinds.named((await readRoute(sql, route))?.kind ?? '');
  return kind === undefined ? code : await kind.describeCode(code);
}

// More come from a loop, or are opens and clicks of an e-mail.
const EVENTS_SHOWN = 20;
// Events of messages and e-mails have no links.
const NO_LINKS = '';

/** @param timeline as the database knows it @param whole with bodies and answers */
export async function followed(
  sql: Sql,
  timeline: readonly TimelineEntry[],
  { view, entries, fault }: KnownWorkflow,
  whole: boolean,
): Promise<Omit<Followed, 'acts'>> {
  const events = timeline.flatMap(({ kind, facts }) => (kind === 'webhook' ? [String(facts['id'])] : []));
  const deliveries: Followed['deliveries'] = [];
  for (const id of events.slice(-EVENTS_SHOWN)) {
    const delivery = await readDelivery(sql, null, id);
    const shown = delivery !== null && whole ? await withBodies(sql, delivery, NO_LINKS) : delivery;
    if (shown !== null) deliveries.push(shown);
  }
  // sort() is stable: events of the same instant stay in the order of the steps.
  const all = [...timeline, ...entries].sort((a, b) => a.at.getTime() - b.at.getTime());
  return { timeline: all, deliveries, workflow: view, fault };
}
