import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import type { WebhookReceiver } from '../support/webhookReceiver.ts';
import { groupBy } from './group.ts';
import { type Account, type Accounts, headersOf, type Payer, PROBE_TAG, type Told } from './load.ts';

/** What the checks look at after a round; `told` holds every request of all rounds so far. */
export interface Scene {
  sql: Database;
  client: Client;
  apiUrl: string;
  accounts: Accounts;
  receiver: Pick<WebhookReceiver, 'calls'>;
  told: Told[];
  /** Temporal was restored from a backup: what it knows of messages that are over says nothing. */
  endedWorkflowsForgotten?: boolean;
  /** What SMSCs outside the database have taken: how often each part, by recipient. */
  taken?: (recipient: string) => Record<string, number>;
}

interface StoredMessage {
  id: string;
  accountId: string;
  route: string;
  status: string;
  submission: string;
  recipient: string;
  parts: number;
  cost: number;
  credits: number;
  sendAt: Date | null;
  reference: string;
  charges: number;
  refunds: number;
  /** Of its parts: how often the SMSC took each, by part. */
  taken: Record<string, number>;
  /** Its parts whose submit has no stored answer: proved by a report since, or open to this day. */
  unanswered: number[];
  events: { id: string; type: string; state: string }[];
}

const SIMULATOR = 'simulator';
const PATIENCE_MS = 120_000;
const FAR_MS = 60_000;
const WORKFLOW_PATIENCE_MS = 30_000;

const EVENTS: Record<string, string[]> = {
  sent: ['message.sent'],
  delivered: ['message.sent', 'message.delivered'],
  undelivered: ['message.sent', 'message.undelivered'],
  failed: ['message.failed'],
};
const STATUS_BY_ENDING: Record<string, string> = { '901': 'undelivered', '902': 'failed', '903': 'sent' };

/** The end that the simulated network has for a message. */
function expectedStatus({ status, recipient, sendAt, parts, unanswered, taken }: StoredMessage): string[] {
  if (status === 'cancelled') return ['cancelled'];
  if (sendAt !== null && sendAt.getTime() > Date.now() + FAR_MS) return ['scheduled'];
  const ending = recipient.slice(-3);
  if (ending === '905') return ['queued'];
  // One part refused, the message has failed, also where the answer to a part before it was cut off.
  if (ending === '902' && unanswered.length < parts) return ['failed'];
  // A submit that was cut off: the SMSC never had it, so no report can ever tell.
  if (unanswered.some((part) => !taken[part])) return ['queued'];
  // Nor where no report ever comes.
  if (ending === '903' && unanswered.length > 0) return ['queued'];
  return [STATUS_BY_ENDING[ending] ?? 'delivered'];
}

const isUnfinished = ({ status }: StoredMessage): boolean => ['scheduled', 'queued', 'sent'].includes(status);

async function readMessages({ sql, taken }: Pick<Scene, 'sql' | 'taken'>): Promise<StoredMessage[]> {
  const messages = await sql<StoredMessage[]>`
    select m.id, m.account_id, m.route, m.status, m.submission, m.recipient, m.parts, m.cost_grosze as cost,
           m.test_credits as credits, m.send_at, m.reference,
           (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'charge') as charges,
           (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'refund') as refunds,
           (select coalesce(jsonb_object_agg(t.part, t.times), '{}')
              from (select s.part, count(*)::int as times from simulator_submits s
                     where s.reference = m.id || '/' || s.part group by s.part) t) as taken,
           array(select p.part::int from message_parts p
                  where p.message_id = m.id and p.answered_at is null order by p.part) as unanswered,
           (select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'type', e.type, 'state', e.state)
                                      order by e.created_at), '[]')
              from webhook_events e where e.subject_id = m.id) as events
      from messages m order by m.id`;
  if (taken === undefined) return messages;
  return messages.map((message) => {
    if (message.route === SIMULATOR) return message;
    // A retry writes to the same number: what was refused before has nothing of what that one has.
    return { ...message, taken: taken(message.recipient) };
  });
}

/** What is still in flight; empty when nothing moves any more by itself. */
async function inFlight(scene: Scene): Promise<string[]> {
  const { sql } = scene;
  const [counts] = await sql<Record<string, number>[]>`
    select (select count(*)::int from outcome_signals) as outcome_signals,
           (select count(*)::int from webhook_events where state = 'pending') as pending_webhooks,
           (select count(*)::int from simulator_reports) as simulator_reports,
           (select count(*)::int from delivery_reports where applied_at is null) as unapplied_reports,
           (select count(*)::int from reservations) as reservations`;
  const rows = Object.entries(counts!).filter(([, count]) => count > 0);
  const moving = (await readMessages(scene)).filter(
    (message) =>
      !expectedStatus(message).includes(message.status) ||
      // A lost worker's submit is taken up again after its heartbeat's time-out.
      (message.status === 'queued' && message.submission !== 'unanswered'),
  );
  return [
    ...rows.map(([name, count]) => `${name}: ${count}`),
    ...moving.map(
      (m) =>
        `${m.id} ${m.recipient} is ${m.status} (submission ${m.submission}, taken ${JSON.stringify(m.taken)}, ` +
        `unanswered ${m.unanswered.join(',')}), not ${expectedStatus(m).join(' or ')}`,
    ),
  ];
}

/** Waits until nothing is in flight; returns what still is when patience ends, and what was the last to come to rest. */
export async function untilAtRest(scene: Scene): Promise<{ moving: string[]; last: string[] }> {
  const deadline = Date.now() + PATIENCE_MS;
  let last: string[] = [];
  for (;;) {
    const moving = await inFlight(scene);
    if (moving.length === 0 || Date.now() > deadline) return { moving, last };
    last = moving;
    await delay(250);
  }
}

/** Everything that is not as it has to be after a crash, one sentence each. */
export async function findViolations(scene: Scene): Promise<string[]> {
  const messages = await readMessages(scene);
  return [
    ...checkRequests(messages, scene.told),
    ...messages.flatMap(checkMessage),
    ...(await checkBooks(scene, messages)),
    ...checkEvents(scene, messages),
    ...(await checkApi(scene, messages)),
    ...(await checkWorkflows(scene, messages)),
  ];
}

/** How many submits of this installation have no stored answer, the simulated network's own 905 left out. */
export async function countUnanswered(scene: Scene): Promise<{ proved: number; open: number }> {
  const messages = (await readMessages(scene)).filter(
    (message) => message.unanswered.length > 0 && !message.recipient.endsWith('905'),
  );
  const open = messages.filter(({ submission }) => submission === 'unanswered').length;
  return { proved: messages.length - open, open };
}

function checkRequests(messages: StoredMessage[], told: Told[]): string[] {
  const byReference = groupBy(messages, ({ reference }) => reference);
  const findings = told.flatMap(({ request, status, messages: answered }) => {
    const stored = (byReference.get(request.tag) ?? []).map(({ id }) => id);
    const expected = status === 201 ? answered.map(({ id }) => id).sort() : [];
    const count = status === 201 ? request.recipients.length : 0;
    if (stored.length === count && String(stored) === String(expected)) return [];
    return [`${request.tag}: told ${status} with ${String(expected)}, stored ${String(stored)}`];
  });
  const known = new Set(told.map(({ request }) => request.tag));
  const unknown = [...byReference.keys()].filter(
    (reference) => !known.has(reference) && !reference.startsWith(PROBE_TAG),
  );
  return [
    ...findings,
    ...unknown.map((reference) => `${reference}: accepted, but its caller was never told`),
  ];
}

function checkMessage(message: StoredMessage): string[] {
  const { id, status, submission, charges, refunds, taken, unanswered, recipient } = message;
  const findings: string[] = [];
  const say = (what: string): void => void findings.push(`${id} (${recipient}, ${status}): ${what}`);

  if (charges !== 1) say(`${charges} charges`);
  if (refunds !== (status === 'failed' || status === 'cancelled' ? 1 : 0)) say(`${refunds} refunds`);

  for (const [part, times] of Object.entries(taken))
    if (times > 1) say(`part ${part} submitted ${times} times`);
  const submitted = ['sent', 'delivered', 'undelivered'].includes(status);
  if (submitted && Object.keys(taken).length !== message.parts) say('not all parts submitted');
  if (!submitted && status !== 'queued' && Object.keys(taken).length > 0) say('submitted all the same');
  if (status === 'queued' && (submission !== 'unanswered' || unanswered.length === 0))
    say(`at rest without being shown as unanswered (${submission})`);
  if (submitted && submission !== 'answered') say(`submission is ${submission}`);
  return findings;
}

async function checkBooks({ sql, accounts }: Scene, messages: StoredMessage[]): Promise<string[]> {
  const findings: string[] = [];
  for (const account of Object.values<Account>(accounts)) {
    const paid = messages.filter(
      ({ accountId, status }) => accountId === account.id && !['failed', 'cancelled'].includes(status),
    );
    const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0);
    const credits = sum(paid.map((message) => message.credits));
    const [lookups] = await sql<{ grosze: number }[]>`
      select coalesce(sum(cost_grosze), 0)::bigint as grosze from number_lookups
       where account_id = ${account.id} and state in ('charged', 'done')`;
    const grosze = sum(paid.map(({ cost, credits: taken }) => (taken > 0 ? 0 : cost))) + lookups!.grosze;
    const [books] = await sql<{ balance: number; credits: number; sum: number; sumCredits: number }[]>`
      select a.balance_grosze as balance, a.test_credits as credits,
             coalesce(sum(l.amount_grosze), 0)::bigint as sum, coalesce(sum(l.test_credits), 0)::bigint as sum_credits
        from accounts a left join ledger_entries l on l.account_id = a.id where a.id = ${account.id} group by a.id`;
    const expected = {
      balance: account.openingGrosze - grosze,
      credits: account.openingCredits - credits,
      sum: account.openingGrosze - grosze,
      sumCredits: account.openingCredits - credits,
    };
    if (JSON.stringify(books) !== JSON.stringify(expected))
      findings.push(`books of ${account.id}: ${JSON.stringify(books)}, not ${JSON.stringify(expected)}`);
  }
  return findings;
}

function checkEvents({ accounts, receiver }: Scene, messages: StoredMessage[]): string[] {
  const findings = receiver.calls
    .filter(({ verified }) => !verified)
    .map(({ event }) => `webhook ${String(event['id'])}: wrong signature`);
  const firstCall = new Map<string, number>();
  receiver.calls.forEach(({ event }, index) => {
    const id = String(event['id']);
    if (!firstCall.has(id)) firstCall.set(id, index);
  });
  for (const { id, accountId, status, events } of messages) {
    const isTold = accountId === accounts.telling.id || accountId === accounts.stepping.id;
    const expected = isTold ? (EVENTS[status] ?? []) : [];
    const types = events.map(({ type }) => type);
    if (String(types) !== String(expected))
      findings.push(`${id}: events ${String(types)}, not ${String(expected)}`);
    for (const event of events) {
      if (event.state === 'pending') findings.push(`${id}: ${event.type} still pending`);
      if (event.state === 'delivered' && !firstCall.has(event.id))
        findings.push(`${id}: ${event.type} marked as delivered, but never received`);
    }
    const calls = events.map((event) => firstCall.get(event.id)).filter((call) => call !== undefined);
    if (calls.some((call, index) => index > 0 && call < calls[index - 1]!))
      findings.push(`${id}: events received out of order`);
  }
  return findings;
}

async function checkApi({ apiUrl, accounts }: Scene, messages: StoredMessage[]): Promise<string[]> {
  const findings: string[] = [];
  for (const payer of Object.keys(accounts) as Payer[]) {
    const account = accounts[payer];
    const shown = new Map<string, string>();
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const response = await fetch(`${apiUrl}/v1/messages?limit=200${query}`, {
        headers: headersOf(account),
      });
      const page = (await response.json()) as {
        data: { id: string; status: string }[];
        next_cursor: string | null;
      };
      for (const { id, status } of page.data) shown.set(id, status);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const stored = messages.filter((m) => m.accountId === account.id);
    if (shown.size !== stored.length)
      findings.push(`the API shows ${shown.size} messages of ${payer}, stored are ${stored.length}`);
    for (const { id, status } of stored)
      if (shown.get(id) !== status) findings.push(`the API shows ${id} as ${shown.get(id)}, not ${status}`);
  }
  return findings;
}

async function checkWorkflows(scene: Scene, messages: StoredMessage[]): Promise<string[]> {
  const deadline = Date.now() + WORKFLOW_PATIENCE_MS;
  const findings: string[] = [];
  const queue = scene.endedWorkflowsForgotten ? messages.filter(isUnfinished) : [...messages];
  const look = async (): Promise<void> => {
    for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
      const finding = await checkWorkflow(scene.client, message, deadline);
      if (finding !== null) findings.push(finding);
    }
  };
  await Promise.all(Array.from({ length: 10 }, look));
  return findings;
}

async function checkWorkflow(
  client: Client,
  message: StoredMessage,
  deadline: number,
): Promise<string | null> {
  const { id, status } = message;
  for (;;) {
    const state = await client.workflow
      .getHandle(id)
      .describe()
      .then(
        (description) => description.status.name,
        (error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return 'missing';
          throw error;
        },
      );
    const right = state === (isUnfinished(message) ? 'RUNNING' : 'COMPLETED');
    if (right) return null;
    if (Date.now() > deadline) return `${id} is ${status}, but its workflow is ${state}`;
    await delay(250);
  }
}

/** Asks every accepted or refused request once more with its key: the answer must be the first one, word by word. */
export async function findReplayViolations({ apiUrl, accounts, told }: Scene): Promise<string[]> {
  const findings: string[] = [];
  for (const { request, body, status, messages } of told) {
    const response = await fetch(`${apiUrl}/v1/messages`, {
      method: 'POST',
      headers: { ...headersOf(accounts[request.payer]), 'idempotency-key': request.tag },
      body,
    });
    const answer = (await response.json()) as { id?: string; messages?: { id: string }[] };
    const ids = answer.messages?.map(({ id }) => id) ?? (answer.id === undefined ? [] : [answer.id]);
    if (response.status !== status || String(ids) !== String(messages.map(({ id }) => id)))
      findings.push(`${request.tag}: told ${status} before, ${response.status} with ${String(ids)} now`);
  }
  return findings;
}
