/** A build of the workflows in which every task of a message fails. */
export function message(): Promise<never> {
  throw new Error('a bad build');
}
