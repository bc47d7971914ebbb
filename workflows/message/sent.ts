import { condition, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { MessageOutcome, SubmissionOutcome } from '../contracts.ts';
import { local } from './local.ts';
import { notify } from './notify.ts';
import { queued } from './queued.ts';
import { type MessageState, show, until, within } from './state.ts';

// Most reports come sooner: the search attribute names those that wait for theirs.
const SHOW_SENT_AFTER_MS = 60_000;

const SIGNAL_PATIENCE_MS = 60_000;

// An SMSC that says late, again and again, that it has not taken a message gets it less and less often.
const HELD_REST_MS = 1_000;
const HELD_REST_MAX_MS = 600_000;

type Waiting = 'sent' | 'unanswered';

/** An outcome that is not the message's last. */
export type Followed = SubmissionOutcome & { status: Waiting };

/** Whether the message goes on after this. */
export function isFollowed(outcome: SubmissionOutcome): outcome is Followed {
  return outcome.status === 'sent' || outcome.status === 'unanswered';
}

/**
 * A submitted message: its route has it, or nobody knows whether that has. Notifies the webhook and waits for its delivery
 * report; submits it again where the SMSC says late that it has not taken it.
 * @returns what is true of it next
 */
export async function sent(state: MessageState, outcome: Followed): Promise<SubmissionOutcome> {
  const { status } = outcome;
  state.unanswered = status === 'unanswered';
  describe(state, status);
  await notify(state, outcome);
  const next = await nextOutcome(state, status);
  // Staff may decide all the while that it rests: other parts of it can be unanswered.
  if (next.status === 'held' && status === 'unanswered') await restAfterHeld(state);
  state.unanswered = false;
  return next.status === 'held' ? await queued(state) : { ...next, status: next.status };
}

function describe(state: MessageState, status: Waiting): void {
  const { route } = state;
  if (status === 'sent') {
    setCurrentDetails(
      `Sent: the route ${route} has it; waits for the delivery report until ${until(state)}.`,
    );
    return;
  }
  setCurrentDetails(
    `Unanswered: nobody knows whether the route ${route} has it, so it is not sent again; ` +
      `waits for a delivery report until ${until(state)}.`,
  );
  show(state, status);
}

/** The next thing the delivery reports say; at the end of the wait, that the message has expired. */
async function nextOutcome(
  state: MessageState,
  status: Waiting,
): Promise<SubmissionOutcome | MessageOutcome> {
  const { id, input, outcomes } = state;
  if (state.shown !== status && !(await outcomeWithin(state, SHOW_SENT_AFTER_MS))) show(state, status);
  if (!(await outcomeWithin(state, input.giveUpAt - Date.now()))) {
    const over = await local.expire(id);
    // Else reports won the race in the database: their signal is on its way.
    if (over.status === 'expired' || !(await outcomeOnItsWay(state))) return over;
  }
  return outcomes.shift()!;
}

/** False: it came before the moment that Temporal was restored to, and does not come again. */
async function outcomeOnItsWay({ outcomes }: MessageState): Promise<boolean> {
  return await condition(() => outcomes.length > 0, SIGNAL_PATIENCE_MS);
}

async function outcomeWithin({ input, outcomes }: MessageState, ms: number): Promise<boolean> {
  const came = (): boolean => outcomes.length > 0;
  if (came()) return true;
  return await within(Math.min(ms, input.giveUpAt - Date.now()), 'waits for the delivery report', came);
}

async function restAfterHeld(state: MessageState): Promise<void> {
  const { outcomes } = state;
  while (outcomes[0]?.status === 'held') outcomes.shift();
  if (state.heldLate > 0) await sleep(Math.min(HELD_REST_MS * 2 ** (state.heldLate - 1), HELD_REST_MAX_MS));
  state.heldLate += 1;
}
