import { setCurrentDetails } from '@temporalio/workflow';
import type { SubmissionOutcome } from '../contracts.ts';
import { cancelMessage } from './cancelled.ts';
import { local } from './local.ts';
import { pause } from './pause.ts';
import { type MessageState, takeRoute, within } from './state.ts';

/**
 * A scheduled message: waits for its send time, or a cancel.
 * @returns null: it is queued; else how it has ended without a submit
 */
export async function scheduled(state: MessageState): Promise<SubmissionOutcome | null> {
  const { id, input } = state;
  if (input.sendAt === null) return null;
  setCurrentDetails(`Scheduled: waits for its send time, ${new Date(input.sendAt).toISOString()}.`);
  await within(input.sendAt - Date.now(), 'waits for the send time', () => state.cancelRequested);
  if (state.cancelRequested) {
    const { status, end } = await cancelMessage(id);
    state.cancelStatus = status;
    if (end !== null) return end;
  }
  state.submitting = true;
  return await release(state);
}

/** Its send time has come: it is queued, as soon as its account is active. */
async function release(state: MessageState): Promise<SubmissionOutcome | null> {
  for (;;) {
    const seen = state.wakes;
    const released = await local.release(state.id);
    if (released.cancelled) return { status: 'cancelled', events: [] };
    if (!released.paused) {
      takeRoute(state, released.route ?? state.route);
      return null;
    }
    const over = await pause(state, seen);
    if (over !== null) return over;
  }
}
