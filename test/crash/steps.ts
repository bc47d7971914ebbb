import type { Client } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import { eventually } from '../support/eventually.ts';
import type { Proxy } from '../support/proxy.ts';
import { hasAnswered, isStarted, type Lockable, type RowLock, untilRow } from './holds.ts';
import type { Account, Planned, Told } from './load.ts';
import type { Network } from './network.ts';
import type { Link, Victim } from './stage.ts';
import type { HeldReceiver } from './heldReceiver.ts';

/** What a step is brought about with. */
export interface StepTools {
  sql: Database;
  client: Client;
  proxies: Record<Link | 'worker to receiver', Proxy>;
  network: Network;
  receiver: HeldReceiver;
  /** Locks the row with this id until it is let go, at the latest after the step. */
  lock(what: Lockable, id: string): Promise<RowLock>;
  /** Pays for the messages that are followed; nobody else uses it. */
  account: Account;
  /** Sends by that account until there is a final answer. */
  send(request: Planned): Promise<Told>;
  /** Cancels until there is a final answer. */
  cancel(id: string): Promise<void>;
}

/** A message brought to a step, which stays there until it is let go. */
export interface AtStep {
  /** What its caller waits for: settles once things are as before. */
  answers: Promise<unknown>[];
  told: Promise<Told>;
  /** Of those that were sent beside it. */
  others?: Promise<Told>[];
  /** It stays there by a frozen link, without which nothing behind it can start. */
  frozen: boolean;
  letGo: () => Promise<void>;
}

/** The machine was too slow or too quick for a step to be seen; what was sent for it is under way. */
export class MissedStep extends Error {
  readonly told: Promise<Told>[];

  constructor(message: string, told: Promise<Told>[]) {
    super(message);
    this.told = told;
  }
}

/** A step of a message's way: which it is, who is killed there, and how a message comes there and stays. */
export interface Step {
  name: string;
  victims: readonly Victim[];
  /** How the numbers it writes to end, for the SMSC. */
  ending?: string;
  recipients?: number;
  scheduledSeconds?: number;
  /** How many are sent beside it, each by a request of its own. */
  beside?: number;
  bring(tools: StepTools, request: Planned, others: Planned[]): Promise<AtStep>;
}

const FROZEN = true;
const BATCH = 120;
const STARTED_OF_BATCH = 25;
const BESIDE = 8;
const BESIDE_MANY = 80;
const STARTED_BESIDE = 10;
const CHARGED_MS = 5_000;
const EVERYBODY: readonly Victim[] = ['api', 'worker', 'postgres', 'temporal'];
const BEHIND_API: readonly Victim[] = ['worker', 'postgres', 'temporal'];

/** All steps, in the order in which a message takes them. */
export const STEPS: readonly Step[] = [
  {
    name: 'the draft is written, nobody asked to charge it',
    victims: ['api', 'postgres', 'temporal'],
    async bring(tools, request) {
      const link = tools.proxies['api to temporal'];
      link.freeze();
      const told = tools.send(request);
      await messageWith(tools, request, ['draft']);
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'charged, and the workflow does not know',
    victims: EVERYBODY,
    // One that is to be sent at once would be submitted in the same task.
    scheduledSeconds: 3,
    async bring(tools, request) {
      const link = tools.proxies['worker to temporal'];
      const { lock, told } = await waitingForItsCharge(tools, request);
      link.freeze();
      await lock.release();
      await messageWith(tools, request, ['scheduled']);
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'accepted, and the caller has no answer',
    victims: EVERYBODY,
    async bring(tools, request) {
      const links = [tools.proxies['api to temporal'], tools.proxies['api to postgres']];
      const { lock, told } = await waitingForItsCharge(tools, request);
      for (const link of links) link.freeze();
      await lock.release();
      const { id } = await messageWith(tools, request, ['queued', 'sent', 'delivered']);
      await eventually(() => hasAnswered(tools.client, id), Boolean);
      return atStep(told, () => links.forEach((link) => link.restore()), FROZEN);
    },
  },
  {
    name: 'the send time has come',
    victims: BEHIND_API,
    scheduledSeconds: 3,
    async bring(tools, request) {
      const told = await tools.send(request);
      const lock = await tools.lock('message', told.messages[0]!.id);
      await lock.untilWaitedFor();
      return atStep(Promise.resolve(told), () => lock.release());
    },
  },
  {
    name: 'marked as under way, not submitted',
    victims: BEHIND_API,
    scheduledSeconds: 3,
    async bring(tools, request) {
      const link = tools.proxies['worker to postgres'];
      const told = await tools.send(request);
      const { id } = told.messages[0]!;
      const lock = await tools.lock('submission', id);
      await lock.untilWaitedFor();
      link.freeze();
      await lock.release();
      await untilRow(
        () => tools.sql<{ state: string }[]>`select state from message_parts where message_id = ${id}`,
        ({ state }) => state === 'submitting',
      );
      return atStep(Promise.resolve(told), () => link.restore(), FROZEN);
    },
  },
  {
    name: 'submitted, not answered',
    victims: BEHIND_API,
    async bring(tools, request) {
      const held = tools.network.hold(request.recipients[0]!);
      const told = tools.send(request);
      const submit = await held;
      return atStep(told, () => {
        submit.answer();
        submit.report();
      });
    },
  },
  {
    name: 'the answer is stored, and the workflow does not know',
    victims: BEHIND_API,
    async bring(tools, request) {
      const link = tools.proxies['worker to temporal'];
      const held = tools.network.hold(request.recipients[0]!);
      const told = tools.send(request);
      const submit = await held;
      await told;
      link.freeze();
      submit.answer();
      await messageWith(tools, request, ['sent']);
      const letGo = (): void => {
        link.restore();
        submit.report();
      };
      return atStep(told, letGo, FROZEN);
    },
  },
  {
    name: 'refused by the SMSC, the refund under way',
    victims: BEHIND_API,
    ending: '902',
    async bring(tools, request) {
      const held = tools.network.hold(request.recipients[0]!);
      const told = tools.send(request);
      const submit = await held;
      await told;
      const lock = await tools.lock('account', tools.account.id);
      submit.answer();
      await lock.untilWaitedFor();
      return atStep(told, () => lock.release());
    },
  },
  {
    name: 'the report is stored, and not applied',
    victims: BEHIND_API,
    async bring(tools, request) {
      const held = tools.network.hold(request.recipients[0]!);
      const told = tools.send(request);
      const submit = await held;
      submit.answer();
      await eventCalled(tools, request, 'message.sent');
      const { id } = await messageWith(tools, request, ['sent']);
      const lock = await tools.lock('message', id);
      submit.report();
      await lock.untilWaitedFor();
      return atStep(told, () => lock.release());
    },
  },
  {
    name: 'a webhook leaves, and nobody takes it',
    victims: BEHIND_API,
    async bring(tools, request) {
      const link = tools.proxies['worker to receiver'];
      // Connections kept alive break first: the webhook comes by a new one, which is seen.
      link.cut();
      link.freeze();
      const before = link.opened();
      const told = tools.send(request);
      await eventually(
        () => Promise.resolve(link.opened()),
        (opened) => opened > before,
      );
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'the receiver has the webhook, and has not answered',
    victims: BEHIND_API,
    async bring(tools, request) {
      const hold = tools.receiver.hold('message.sent');
      const told = tools.send(request);
      await hold.reached;
      return atStep(told, () => hold.answer());
    },
  },
  {
    name: 'the receiver has answered, and that is not logged',
    victims: BEHIND_API,
    async bring(tools, request) {
      const hold = tools.receiver.hold('message.sent');
      const told = tools.send(request);
      const { id } = await hold.reached;
      const lock = await tools.lock('event', id);
      hold.answer();
      await lock.untilWaitedFor();
      return atStep(told, () => lock.release());
    },
  },
  {
    name: 'cancelled, the refund under way',
    victims: EVERYBODY,
    scheduledSeconds: 3_600,
    async bring(tools, request) {
      const told = await tools.send(request);
      const lock = await tools.lock('account', tools.account.id);
      const cancelled = tools.cancel(told.messages[0]!.id);
      await lock.untilWaitedFor();
      const step = atStep(Promise.resolve(told), () => lock.release());
      return { ...step, answers: [cancelled] };
    },
  },
  {
    name: `some of ${BATCH} recipients have their workflow`,
    victims: EVERYBODY,
    recipients: BATCH,
    async bring(tools, request) {
      const link = tools.proxies['worker to temporal'];
      const told = tools.send(request);
      await messageWith(tools, request, ['queued']);
      const ids = await tools.sql<{ id: string }[]>`
        select id from messages where reference = ${request.tag} and status <> 'draft' order by id`;
      await eventually(() => isStarted(tools.client, ids[STARTED_OF_BATCH]!.id), Boolean);
      link.freeze();
      if (await isStarted(tools.client, ids.at(-1)!.id))
        throw new MissedStep('all of them have it already', [told]);
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'gathered: the drafts are written, nobody asked to charge them',
    victims: ['api', 'postgres', 'temporal'],
    beside: BESIDE,
    async bring(tools, request, others) {
      const { link, told } = await gatheredDrafts(tools, request, others);
      return allAtStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'gathered: being charged',
    victims: EVERYBODY,
    beside: BESIDE,
    async bring(tools, request, others) {
      const { lock, told } = await waitingForTheirCharge(tools, request, others);
      return allAtStep(told, () => lock.release());
    },
  },
  {
    name: 'gathered: left to workflows of their own, whose charges wait',
    victims: EVERYBODY,
    beside: BESIDE,
    async bring(tools, request, others) {
      const { link, told } = await gatheredDrafts(tools, request, others);
      const lock = await tools.lock('account', tools.account.id);
      link.restore();
      await untilSomeAreStarted(tools, others);
      await lock.untilWaitedFor();
      return allAtStep(told, () => lock.release());
    },
  },
  {
    name: 'gathered: charged, and the workflow does not know',
    victims: EVERYBODY,
    beside: BESIDE,
    async bring(tools, request, others) {
      const link = tools.proxies['worker to temporal'];
      const { lock, told } = await waitingForTheirCharge(tools, request, others);
      link.freeze();
      await lock.release();
      await untilChargedTogether(tools, others[0]!, told);
      return allAtStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'gathered: accepted, and the callers have no answer',
    victims: EVERYBODY,
    beside: BESIDE,
    async bring(tools, request, others) {
      const links = [tools.proxies['api to temporal'], tools.proxies['api to postgres']];
      const { lock, told } = await waitingForTheirCharge(tools, request, others);
      for (const link of links) link.freeze();
      await lock.release();
      await untilChargedTogether(tools, others[0]!, told);
      return allAtStep(told, () => links.forEach((link) => link.restore()), FROZEN);
    },
  },
  {
    name: `gathered: some of ${BESIDE_MANY} have their workflow`,
    victims: EVERYBODY,
    beside: BESIDE_MANY,
    async bring(tools, request, others) {
      const link = tools.proxies['worker to temporal'];
      const { lock, told } = await waitingForTheirCharge(tools, request, others);
      await lock.release();
      // Those before them in an earlier call need not wait for the key, nor are they enough.
      const ids = await eventually(
        () => tools.sql<{ id: string }[]>`
          select id from messages where reference = any(${others.map(({ tag }) => tag)})
             and gathered_in is not null order by id`,
        (some) => some.length > STARTED_BESIDE,
      );
      await eventually(() => isStarted(tools.client, ids[STARTED_BESIDE]!.id), Boolean);
      link.freeze();
      if (await isStarted(tools.client, ids.at(-1)!.id))
        throw new MissedStep('all of them have it already', told);
      return allAtStep(told, () => link.restore(), FROZEN);
    },
  },
];

/** Sends them all: the first one is asked to be charged, in vain, and the others gather; their drafts are written. */
async function gatheredDrafts(
  tools: StepTools,
  request: Planned,
  others: Planned[],
): Promise<{ link: Proxy; told: Promise<Told>[] }> {
  const link = tools.proxies['api to temporal'];
  link.freeze();
  const all = [request, ...others];
  const told = all.map((one) => tools.send(one));
  // Awaited later; until then a failure must not end the process.
  for (const one of told) one.catch(() => undefined);
  await untilRow(
    () => tools.sql<{ drafts: number }[]>`
      select count(*)::int as drafts from messages where reference = any(${all.map(({ tag }) => tag)}) and status = 'draft'`,
    ({ drafts }) => drafts === all.length,
  );
  return { link, told };
}

/** Of one account few have workflows of their own at a time, in the order in which they reached the API. */
async function untilSomeAreStarted(tools: StepTools, some: readonly Planned[]): Promise<void> {
  const messages = await Promise.all(some.map((one) => messageWith(tools, one, ['draft'])));
  await eventually(
    () => Promise.all(messages.map(({ id }) => isStarted(tools.client, id))),
    (started) => started.filter(Boolean).length >= 2,
  );
}

/** The workflow of those that gathered is in the middle of their charge: it waits for the key of one of them. */
async function waitingForTheirCharge(
  tools: StepTools,
  request: Planned,
  others: Planned[],
): Promise<{ lock: RowLock; told: Promise<Told>[] }> {
  const { link, told } = await gatheredDrafts(tools, request, others);
  const { id } = await messageWith(tools, others.at(-1)!, ['draft']);
  const lock = await tools.lock('key', id);
  link.restore();
  await lock.untilWaitedFor();
  return { lock, told };
}

/**
 * @throws MissedStep where they were not: a charge waits for a key no longer than 150 ms, which is less than a busy machine may take to let
 *   go of it
 */
async function untilChargedTogether({ sql }: StepTools, one: Planned, told: Promise<Told>[]): Promise<void> {
  const charged = () => sql<{ charged: boolean }[]>`
    select coalesce(bool_or(status <> 'draft' and gathered_in is not null), false) as charged
      from messages where reference = ${one.tag}`;
  await eventually(charged, ([row]) => row!.charged, CHARGED_MS).catch(() => {
    throw new MissedStep('their charge did not wait for the key', told);
  });
}

function allAtStep([told, ...others]: Promise<Told>[], letGo: () => unknown, frozen = false): AtStep {
  return { ...atStep(told!, letGo, frozen), answers: [told!, ...others], others };
}

/** Sends; its workflow runs, and waits for the account's money. */
async function waitingForItsCharge(
  tools: StepTools,
  request: Planned,
): Promise<{ lock: RowLock; told: Promise<Told> }> {
  const lock = await tools.lock('account', tools.account.id);
  const told = tools.send(request);
  const { id } = await messageWith(tools, request, ['draft']);
  // Another message's refund may wait for the lock too.
  await eventually(() => isStarted(tools.client, id), Boolean);
  await lock.untilWaitedFor();
  return { lock, told };
}

function atStep(told: Promise<Told>, letGo: () => unknown, frozen = false): AtStep {
  return { told, answers: [told], frozen, letGo: async () => void (await letGo()) };
}

// Of the last try: on a busy machine there may have been others before, which came to nothing.
async function messageWith(
  { sql }: StepTools,
  { tag }: Planned,
  statuses: string[],
): Promise<{ id: string; status: string }> {
  return await untilRow(
    () =>
      sql<{ id: string; status: string }[]>`select id, status from messages where reference = ${tag}
       order by status = 'draft' and status <> all(${statuses}), id`,
    ({ status }) => statuses.includes(status),
  );
}

async function eventCalled({ sql }: StepTools, { tag }: Planned, type: string): Promise<void> {
  await untilRow(
    () => sql<{ state: string }[]>`
      select e.state from webhook_events e join messages m on m.id = e.subject_id
       where m.reference = ${tag} and e.type = ${type}`,
    ({ state }) => state === 'delivered',
  );
}
