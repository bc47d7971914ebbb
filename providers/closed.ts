import type { Provider } from './provider.ts';

/**
 * Stands for a route that sends nothing: it is disabled, or cannot be opened. Whatever is still queued on it is answered so,
 * and moves on or waits.
 * @param problem why it cannot be opened; null: staff closed it
 */
export function closedProvider(name: string, problem: string | null): Provider {
  const since = new Date();
  return {
    name,
    takesWhole: false,
    submit: () => Promise.resolve({ kind: 'broken', code: problem === null ? 'disabled' : 'not_configured' }),
    lookup: () => Promise.resolve({ kind: 'failed' }),
    start: () => Promise.resolve(),
    state: () => ({
      ...{ takesSubmits: false, sessions: 0, sessionsWanted: 0, window: 0, inFlight: 0, failures: 0 },
      lastError: problem,
      lastErrorAt: problem === null ? null : since,
    }),
    stop: () => Promise.resolve(),
  };
}
