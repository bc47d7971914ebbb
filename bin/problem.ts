/** A condition of this machine that prevents the start (port in use, tool missing): one sentence for the terminal, without a stack. */
export class StartProblem extends Error {
  override name = 'StartProblem';
}

export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? 'no output';
}
