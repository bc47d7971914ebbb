import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

export const answerUpdate = defineUpdate<boolean>('answer');

/** The least that a workflow can be. */
export async function nothing(): Promise<void> {}

/** Answers one update and ends: the least that an accepted request can be. */
export async function bare(): Promise<void> {
  let answered = false;
  setHandler(answerUpdate, () => (answered = true));
  await condition(() => answered);
}
