import { setTimeout as delay } from 'node:timers/promises';
import { endedByWebhooks, type Ground, noneRunning } from './contender.ts';
import { type Customer, type Product, sendMany } from './contenders/product.ts';
import { type Submitted, submittedOf } from './growthData.ts';
import { type Spread, spread } from './spread.ts';

/** What happened when many messages had the same send time. */
export interface WindowResult {
  messages: number;
  priority: number;
  /** Whether all had their workflows before the send time; else lateness has the rest of their start in it. */
  allAsleep: boolean;
  /** Submits per second from the send time to the last of them. */
  perSecond: number;
  /** Seconds from the send time to the submit: of all, and of priority messages. */
  lateness: Spread;
  priorityLateness: Spread;
  /** Places of the priority messages in the order of submits, from 1. */
  priorityRanks: Spread;
  /** Submits in each second after the send time. */
  bySecond: { all: number[]; priority: number[] };
}

const PRIORITY_SHARE = 0.1;
// So that all sleep by then.
const LEAD_MS = 45_000;
const LEAD_PER_MESSAGE_MS = 12;

/** Sends messages for one instant, the last tenth of them with priority, and waits for the end of all. */
export async function measureWindow(
  { client, receiver }: Ground,
  product: Product,
  customer: Customer,
  messages: number,
): Promise<WindowResult> {
  const { begin, ended } = endedByWebhooks(receiver, () => customer.caller.refused());
  await begin();
  const sendAt = Date.now() + LEAD_MS + messages * LEAD_PER_MESSAGE_MS;
  const priority = Math.round(messages * PRIORITY_SHARE);
  const options = { send_at: new Date(sendAt).toISOString() };
  await sendMany(customer, messages - priority, () => options);
  await sendMany(customer, priority, () => ({ ...options, priority: true }));
  const query = `Account = '${customer.id}' and WorkflowType = 'message' and ExecutionStatus = 'Running'`;
  await delay(Math.max(0, sendAt - Date.now() - 1_000));
  const { count } = await client.workflow.count(query);
  console.error(`${count} of ${messages} messages sleep; the window opens …`);
  await ended(messages);
  await noneRunning(client, `Account = '${customer.id}'`);
  return {
    ...{ messages, priority, allAsleep: count === messages },
    ...described(await submittedOf(product.sql, customer.id), sendAt),
  };
}

function described(submitted: Submitted[], sendAt: number) {
  const late = (some: Submitted[]): number[] => some.map(({ submittedAt }) => (submittedAt - sendAt) / 1000);
  const first = submitted.filter(({ priority }) => priority);
  const ranks = submitted.flatMap(({ priority }, index) => (priority ? [index + 1] : []));
  const lateness = spread(late(submitted));
  return {
    perSecond: submitted.length / lateness.last,
    lateness,
    priorityLateness: spread(late(first)),
    priorityRanks: spread(ranks),
    bySecond: { all: bySecond(late(submitted)), priority: bySecond(late(first)) },
  };
}

function bySecond(seconds: number[]): number[] {
  const counts = Array.from({ length: Math.floor(Math.max(0, ...seconds)) + 1 }, () => 0);
  for (const second of seconds) counts[Math.max(0, Math.floor(second))]! += 1;
  return counts;
}
