/**
 * A condition of this machine that stops the start: a taken port, a folder in use, a missing tool.
 * The message is one sentence for the terminal; there is nothing to debug in it, so it is shown without a stack.
 */
export class StartProblem extends Error {
  override name = 'StartProblem';
}

/** The `code` of a Node system error (`ENOENT`, `EADDRINUSE`, …), or undefined for any other value. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The message of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The last line of what a program wrote, for the sentence that says why it did not start. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? 'no output';
}
