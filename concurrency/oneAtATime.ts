/**
 * Runs a task once at a time. Whoever asks while it runs shares the next run with all others who ask until then, so that
 * under load many are served by one run, and each by one that began after it had asked.
 */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function run(): Promise<void> {
    running = task().finally(() => (running = null));
    return running;
  }

  return () => {
    if (running === null) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return run();
      });
    return next;
  };
}
