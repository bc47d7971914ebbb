import { startReceiver, type WebhookEvent, type WebhookReceiver } from '../support/webhookReceiver.ts';

/** A receiver that can be told to take a call and keep its answer. */
export interface HeldReceiver extends WebhookReceiver {
  /** Keeps the answer to the next call of this type. */
  hold(type: string): { reached: Promise<WebhookEvent>; answer(): void };
}

/** Starts one; it answers 200 at once until it is told otherwise. */
export async function startHeldReceiver(): Promise<HeldReceiver> {
  let waiting: { type: string; take: (event: WebhookEvent) => Promise<number> } | null = null;
  const receiver = await startReceiver((_, event) => {
    if (waiting?.type !== event.type) return 200;
    const { take } = waiting;
    waiting = null;
    return take(event);
  });
  return {
    ...receiver,
    hold(type) {
      const { promise: answered, resolve: answer } = withResolvers<number>();
      const { promise: reached, resolve: reach } = withResolvers<WebhookEvent>();
      const take = (event: WebhookEvent): Promise<number> => {
        reach(event);
        return answered;
      };
      waiting = { type, take };
      return { reached, answer: () => answer(200) };
    },
  };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
