import { startHttpReceiver } from '../support/httpReceiver.ts';

/** A receiver of webhooks that takes events while it is told to, and else leaves each call open. */
export interface HoldingReceiver {
  readonly url: string;
  taking: boolean;
  /** Calls that it has left open. */
  leftOpen: number;
  /** The types of the events that it took, in order. */
  readonly received: string[];
  close(): Promise<void>;
}

/** Starts one that takes nothing yet. */
export async function startHoldingReceiver(): Promise<HoldingReceiver> {
  const server = await startHttpReceiver((response, raw) => {
    if (!receiver.taking) {
      receiver.leftOpen += 1;
      return;
    }
    receiver.received.push((JSON.parse(raw.toString()) as { type: string }).type);
    response.writeHead(200).end();
  });
  const receiver: HoldingReceiver = {
    ...{ url: server.url, taking: false, leftOpen: 0, received: [] },
    close: () => server.close(),
  };
  return receiver;
}
