import type { Client } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import { eventually } from '../support/eventually.ts';
import type { Proxy } from '../support/proxy.ts';
import { isStarted, type Lockable, type RowLock, untilRow } from './holds.ts';
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
const BESIDE = 80;
const STARTED_BESIDE = 10;
const EVERYBODY: readonly Victim[] = ['api', 'worker', 'postgres', 'temporal'];
const BEHIND_API: readonly Victim[] = ['worker', 'postgres', 'temporal'];

/** All steps, in the order in which a message takes them. */
export const STEPS: readonly Step[] = [
  {
    name: 'about to be accepted: it waits for the account’s money',
    victims: EVERYBODY,
    async bring(tools, request) {
      const { lock, told } = await waitingForMoney(tools, request);
      return atStep(told, () => lock.release());
    },
  },
  {
    name: 'accepted, and the caller has no answer',
    victims: EVERYBODY,
    async bring(tools, request) {
      const link = tools.proxies['api to postgres'];
      const { lock, told } = await waitingForMoney(tools, request);
      link.freeze();
      await lock.release();
      await messageWith(tools, request, ['queued', 'sent', 'delivered']);
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'accepted, not started',
    victims: EVERYBODY,
    async bring(tools, request) {
      const link = tools.proxies['worker to temporal'];
      link.freeze();
      const told = tools.send(request);
      await told;
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: 'started, not charged',
    victims: EVERYBODY,
    async bring(tools, request) {
      const { lock, told } = await waitingForItsCharge(tools, request);
      return atStep(told, () => lock.release());
    },
  },
  {
    name: 'charged, and the workflow does not know',
    victims: EVERYBODY,
    // One that is to be sent at once would be submitted in the same task.
    scheduledSeconds: 3,
    async bring(tools, request) {
      const link = tools.proxies['worker to temporal'];
      const { lock, told, id } = await waitingForItsCharge(tools, request);
      link.freeze();
      await lock.release();
      await untilRow(
        () => tools.sql<{ left: number }[]>`
          select count(*)::int as left from reservations where subject_id = ${id}`,
        ({ left }) => left === 0,
      );
      return atStep(told, () => link.restore(), FROZEN);
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
        select id from messages where reference = ${request.tag} order by id`;
      await eventually(() => isStarted(tools.client, ids[STARTED_OF_BATCH]!.id), Boolean);
      link.freeze();
      if (await isStarted(tools.client, ids.at(-1)!.id))
        throw new MissedStep('all of them have it already', [told]);
      return atStep(told, () => link.restore(), FROZEN);
    },
  },
  {
    name: `some of ${BESIDE} sent at once have their workflow`,
    victims: EVERYBODY,
    beside: BESIDE,
    async bring(tools, request, others) {
      const link = tools.proxies['worker to temporal'];
      const told = [request, ...others].map((one) => tools.send(one));
      // Awaited later; until then a failure must not end the process.
      for (const one of told) one.catch(() => undefined);
      const tags = others.map(({ tag }) => tag);
      const ids = await eventually(
        () => tools.sql<{ id: string }[]>`select id from messages where reference = any(${tags}) order by id`,
        (some) => some.length > STARTED_BESIDE,
      );
      await eventually(() => isStarted(tools.client, ids[STARTED_BESIDE]!.id), Boolean);
      link.freeze();
      const [first, ...rest] = told;
      const step = atStep(first!, () => link.restore(), FROZEN);
      return { ...step, answers: told, others: rest };
    },
  },
];

/** Sends; the API waits for the account's money. */
async function waitingForMoney(
  tools: StepTools,
  request: Planned,
): Promise<{ lock: RowLock; told: Promise<Told> }> {
  const lock = await tools.lock('account', tools.account.id);
  const told = tools.send(request);
  await lock.untilWaitedFor();
  return { lock, told };
}

/** Sends; its workflow runs, and waits for what was reserved. */
async function waitingForItsCharge(
  tools: StepTools,
  request: Planned,
): Promise<{ lock: RowLock; told: Promise<Told>; id: string }> {
  const link = tools.proxies['worker to temporal'];
  // What earlier steps have left to be started would be taken first, and again.
  await untilRow(
    () => tools.sql<{ waiting: number }[]>`select count(*)::int as waiting from reservations`,
    ({ waiting }) => waiting === 0,
  );
  link.freeze();
  const told = tools.send(request);
  const { id } = (await told).messages[0]!;
  // A worker has taken it, and starts it as soon as it can.
  const taken = untilRow(
    () => tools.sql<{ taken: boolean }[]>`
      select start_after > now() as taken from reservations where subject_id = ${id}`,
    (row) => row.taken,
  );
  await taken.catch(() => {
    link.restore();
    throw new MissedStep('no worker took it while Temporal was away', [told]);
  });
  const lock = await tools.lock('reservation', id);
  link.restore();
  await lock.untilWaitedFor();
  return { lock, told, id };
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
       order by status <> all(${statuses}), id`,
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
