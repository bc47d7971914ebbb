/** Runs `stop` once when the benchmark ends the program. */
export function stopOnSignal(stop: () => Promise<void>): void {
  process.once('SIGTERM', () => void stop());
}
