/** A condition of this machine that prevents the start (port in use, tool missing): one sentence for the terminal, without a stack. */
export class StartProblem extends Error {
  override name = 'StartProblem';
}

/** The `code` of a Node system error (`ENOENT`, `EADDRINUSE`, …), if it is one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? 'no output';
}
