import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

export const answerUpdate = defineUpdate<boolean>('answer');

/** Answers one update and ends. */
export async function bare(): Promise<void> {
  let answered = false;
  setHandler(answerUpdate, () => (answered = true));
  await condition(() => answered);
}
