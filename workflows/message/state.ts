import {
  type CancellationScope,
  condition,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { type MessageInput, type MessageOutcome, SEARCH_ATTRIBUTES } from '../contracts.ts';

/** What one run of the workflow knows of its message. */
export interface MessageState {
  readonly id: string;
  readonly input: MessageInput;
  /** True from its send time on: it is not cancelled any more. */
  submitting: boolean;
  cancelRequested: boolean;
  /** What a cancel came to, for those who asked for it. */
  cancelStatus: string | undefined;
  route: string;
  /** How often it has moved to another route. */
  moves: number;
  /** The submit under way. */
  submission: CancellationScope | undefined;
  /** Its last submit was left unanswered. */
  unanswered: boolean;
  /** How often the SMSC has said late that it has not taken it. */
  heldLate: number;
  /** What its delivery reports came to, and staff decided, that is not dealt with yet; the first one first. */
  readonly outcomes: MessageOutcome[];
  /** Raised by whatever a paused message may go on for. */
  wakes: number;
  /** The status in the search attributes. */
  shown: string;
  /** Events that were delivered, or are being delivered. */
  readonly notified: Set<string>;
}

/** The state at the start of a run. */
export function newState(input: MessageInput): MessageState {
  return {
    id: workflowInfo().workflowId,
    input,
    submitting: false,
    cancelRequested: false,
    cancelStatus: undefined,
    route: input.route,
    moves: 0,
    submission: undefined,
    unanswered: false,
    heldLate: 0,
    outcomes: [],
    wakes: 0,
    shown: input.sendAt === null ? 'queued' : 'scheduled',
    notified: new Set(),
  };
}

/** Shows a status in the search attributes. */
export function show(state: MessageState, status: string): void {
  if (status === state.shown) return;
  state.shown = status;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: status }]);
}

/** The message takes a route from now on; the search attributes show it. */
export function takeRoute(state: MessageState, next: string): void {
  if (next === state.route) return;
  state.route = next;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.route, value: next }]);
}

/** Until when the message may be delivered, as text. */
export function until({ input }: MessageState): string {
  return new Date(input.giveUpAt).toISOString();
}

/** Waits for something, for a time of at least a millisecond. @returns whether it came */
export async function within(ms: number, summary: string, came: () => boolean): Promise<boolean> {
  return await condition(came, Math.max(ms, 1), { summary });
}
