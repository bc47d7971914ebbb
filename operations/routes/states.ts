import { readOverview } from '../../db/routes/routeOverview.ts';
import { type RouteState, setRouteState } from '../../db/routes/routes.ts';
import type { SimulatedUse } from '../../domain/routeUses.ts';
import type { RouteRule } from '../../domain/routing.ts';
import { recorded } from '../staff.ts';
import { holdRoute } from './find.ts';
import { onlyUsesNow, simulatedUseNow } from './uses.ts';

interface Input {
  route: string;
}

/** A route in another state. */
export interface SwitchedRoute {
  state: RouteState;
  /** Messages and e-mails that wait for their submit, or are being submitted. */
  queue: number;
  /** Messages and e-mails whose submit got no answer, and about which nothing is known since. */
  unanswered: number;
  /** Of an active route: what the simulated network still takes. */
  simulated: SimulatedUse | null;
  /** Of one that is not active: its rules whose messages no other active route takes. */
  untaken: RouteRule[];
}

/** Lets a route take messages again. @throws StaffRefused route_missing */
export const enableRoute = switching('routes enable', 'active');

/**
 * Gives a route no new messages; it sends those it has, and goes on with reports and replies.
 * @throws StaffRefused route_missing
 */
export const drainRoute = switching('routes drain', 'draining');

/** Closes a route's sessions: it sends nothing, and no reports and replies come by it. @throws StaffRefused route_missing */
export const disableRoute = switching('routes disable', 'disabled');

function switching(action: string, state: RouteState) {
  return recorded(action, async (sql, { route: name }: Input) => {
    const before = await holdRoute(sql, name);
    if (before.state !== state) await setRouteState(sql, name, state);
    const [seen] = await readOverview(sql, name);
    const isActive = state === 'active';
    const data: SwitchedRoute = {
      state,
      queue: seen?.queue ?? 0,
      unanswered: seen?.unanswered ?? 0,
      simulated: isActive ? await simulatedUseNow(sql) : null,
      untaken: isActive ? [] : await onlyUsesNow(sql, name),
    };
    return { data, subject: name, details: { from: before.state, to: state } };
  });
}
