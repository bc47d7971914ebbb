import type { Provider } from '../providers/provider.ts';
import type { SeenRoute } from '../db/routes/routeStates.ts';
import { NO_SESSION, type SubmitAnswer, type Suspect } from '../domain/submission.ts';

// So many submits in a row whose answer blames the route: it does not work, although its sessions stand.
const BROKEN_IN_ROW = 5;
// After that long a message may try it again.
const REST_MS = 30_000;

/** What comes of a route's submits in this process. */
export interface RouteHealth {
  /** @param suspect what may itself be to blame: however often it is answered so in a row, it counts once */
  onAnswer: (answer: SubmitAnswer, suspect?: Suspect) => void;
  /** What is to be seen of the route now; `provider` is the one it has at present. */
  seen(route: string, provider: Provider): SeenRoute;
}

export function createRouteHealth(): RouteHealth {
  const counts = { submitted: 0, throttled: 0, refused: 0, unanswered: 0, held: 0 };
  let brokenInRow = 0;
  // Never more of them than answers that close the route.
  const blamed = new Set<string>();
  let brokenAt = 0;

  const blame = (suspect: Suspect | undefined): void => {
    const isKnown = suspect !== undefined && blamed.has(suspect.id);
    if (suspect !== undefined && blamed.size < BROKEN_IN_ROW) blamed.add(suspect.id);
    if (!isKnown) brokenInRow += 1;
    // An account may be refused for its sender for ever: it would keep stopped a route that works for the others.
    if (!isKnown || (brokenInRow >= BROKEN_IN_ROW && suspect.kind === 'email')) brokenAt = Date.now();
  };

  return {
    onAnswer(answer, suspect) {
      if (answer.kind === 'broken') {
        if (answer.code === NO_SESSION) return;
        counts.held += 1;
        blame(suspect);
        return;
      }
      if (answer.kind !== 'unanswered') {
        brokenInRow = 0;
        blamed.clear();
      }
      if (answer.kind === 'accepted') counts.submitted += 1;
      else if (answer.kind === 'later') counts.held += 1;
      else counts[answer.kind] += 1;
    },
    seen(route, provider) {
      const { takesSubmits, ...state } = provider.state();
      const resting = brokenInRow >= BROKEN_IN_ROW && Date.now() - brokenAt < REST_MS;
      return { route, ...state, ...counts, working: takesSubmits && !resting };
    },
  };
}
