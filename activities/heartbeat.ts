import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 5_000;

/**
 * Does the work of an activity and lets Temporal know all the while that its worker lives.
 * @param details what a later attempt is to know of it, asked for at each heartbeat
 */
export async function withHeartbeat<T>(work: () => Promise<T>, details?: () => unknown): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(details?.()), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

/** Shows that the work of an activity goes on, and ends it where its worker is to stop. */
export function beat(): void {
  const context = Context.current();
  context.cancellationSignal.throwIfAborted();
  context.heartbeat();
}
