import type { SubmissionOutcome } from '../contracts.ts';
import { deliverEvents } from '../webhooks.ts';
import type { MessageState } from './state.ts';

/** Delivers the events of an outcome, each once, whoever names it; first attempts may have been made with the submit. */
export async function notify({ notified }: MessageState, outcome: SubmissionOutcome): Promise<void> {
  const { events, notified: attempted = [] } = outcome;
  const left = events.filter((event) => !notified.has(event));
  for (const event of left) notified.add(event);
  await deliverEvents(left, new Map(attempted.map((rest, index) => [events[index]!, rest])));
}
