import type { Connection } from './connection.ts';
import { COMMAND } from './wire.ts';

// As many as SMSCs usually leave unacknowledged on one connection.
const WINDOW = 20;
const AGAIN_MS = 100;

interface Item {
  body: Buffer;
  done: () => void;
}

/** What is to be handed over to clients: kept until it is acknowledged, tried again where it is not. */
interface Outbox {
  /** Resolves once it is acknowledged. */
  add(body: Buffer): Promise<void>;
  /** To be called when a receiver has come. */
  pump(): void;
  size(): number;
  redelivered(): number;
  close(): void;
}

/**
 * @param receivers the connections that take deliver_sm
 * @param later runs something after some milliseconds
 */
export function createOutbox(
  receivers: () => Connection[],
  later: (ms: number, work: () => void) => void,
): Outbox {
  const queue: Item[] = [];
  const open = new Map<Connection, number>();
  let under = 0;
  let redelivered = 0;
  let closed = false;

  const pump = (): void => {
    while (queue.length > 0 && !closed) {
      const receiver = receivers()
        .filter((one) => (open.get(one) ?? 0) < WINDOW)
        .sort((a, b) => (open.get(a) ?? 0) - (open.get(b) ?? 0))[0];
      if (!receiver) return;
      void handOver(receiver, queue.shift()!);
    }
  };
  const handOver = async (receiver: Connection, item: Item): Promise<void> => {
    under += 1;
    open.set(receiver, (open.get(receiver) ?? 0) + 1);
    const status = await receiver.request(COMMAND.deliverSm, item.body);
    open.set(receiver, open.get(receiver)! - 1);
    if (!receiver.open) open.delete(receiver);
    under -= 1;
    if (status === 0) {
      item.done();
      return pump();
    }
    redelivered += 1;
    queue.push(item);
    later(AGAIN_MS, pump);
  };

  return {
    add: (body) =>
      new Promise((done) => {
        queue.push({ body, done });
        pump();
      }),
    pump,
    size: () => queue.length + under,
    redelivered: () => redelivered,
    close: () => (closed = true),
  };
}
