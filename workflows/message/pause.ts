import { setCurrentDetails } from '@temporalio/workflow';
import type { SubmissionOutcome } from '../contracts.ts';
import { cancelMessage } from './cancelled.ts';
import { local } from './local.ts';
import { type MessageState, show, until, within } from './state.ts';

/**
 * Waits for the account, which is suspended, unless something came since `seen`. Null: the database is to be asked again;
 * else how the message has ended meanwhile.
 */
export async function pause(state: MessageState, seen: number): Promise<SubmissionOutcome | null> {
  const { id, input } = state;
  setCurrentDetails(
    `Paused: its account is suspended. It goes when that is active again, until ${until(state)}.`,
  );
  show(state, 'paused');
  const woken = await within(input.giveUpAt - Date.now(), 'waits for its account', () => state.wakes > seen);
  if (!woken) return await local.expire(id);
  if (!state.cancelRequested) return null;
  return (await cancelMessage(id)).end;
}
