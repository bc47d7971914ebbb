import { condition, setHandler } from '@temporalio/workflow';
import { type MessageOutcome, outcomeSignal } from '../../workflows/contracts.ts';

/** A workflow as an older worker has it: it knows the signal only. */
export async function deaf(): Promise<MessageOutcome> {
  let heard: MessageOutcome | undefined;
  setHandler(outcomeSignal, (outcome) => void (heard = outcome));
  await condition(() => heard !== undefined);
  return heard!;
}
