import type { Client } from '@temporalio/client';
import type { ContenderKey } from './options.ts';
import { until } from './until.ts';

/** One way of having messages sent, started and ready. */
export interface Contender {
  key: ContenderKey;
  /** For tables: what it is, in a few words. */
  title: string;
  /** Its own processes. */
  pids: Record<string, number>;
  /** The role of each of them in the database; none where it needs no database. */
  roles: Record<string, string>;
  /** Messages of each request. */
  recipients: number;
  /** Sends one request. Returns the ids of its messages, which are those of their workflows. */
  send(): Promise<string[]>;
  /**
   * Notes what has ended so far.
   * @returns a wait for the end of so many messages more: the instant of the last one, epoch milliseconds
   */
  begin(): Promise<(messages: number) => Promise<number>>;
  /** Waits until nothing of it is under way. */
  settled(): Promise<void>;
}

// Of a message that is sent and delivered.
const EVENTS = 2;

/** {@link Contender.begin} by the webhooks that the receiver has acknowledged. */
export async function beginByWebhooks(receiverUrl: string): ReturnType<Contender['begin']> {
  const read = async () => (await (await fetch(receiverUrl)).json()) as { events: number; lastAt: number };
  const before = (await read()).events;
  return async (messages) => {
    let now = { events: 0, lastAt: 0 };
    await until(`the webhooks of ${messages} messages`, async () => {
      now = await read();
      return now.events - before >= messages * EVENTS;
    });
    return now.lastAt;
  };
}

/** Waits until no workflow fits the query. */
export async function noneRunning(client: Client, query: string): Promise<void> {
  await until(`no workflow runs (${query})`, async () => {
    const { count } = await client.workflow.count(`${query} and ExecutionStatus = 'Running'`);
    return count === 0;
  });
}
