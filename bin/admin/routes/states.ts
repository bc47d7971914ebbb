import type { Sql } from '../../../db/connection.ts';
import { readOverview } from '../../../db/routes/routeOverview.ts';
import { readRouting, type RouteState, setRouteState } from '../../../db/routes/routes.ts';
import { providerKinds } from '../../../providers/registry.ts';
import { command, required, type Outcome } from '../command.ts';
import { holdRoute, remark } from './lookup.ts';
import { onlyUses, simulatorRemark } from './use.ts';
import { routeName } from '../values.ts';

const options = { name: required('NAME', 'the route', routeName) };

const enable = command({
  name: 'routes enable',
  about: 'Lets a route take messages again.',
  options,
  positional: ['name'],
  run: (sql, { name }) => become(sql, name, 'active'),
});

const drain = command({
  name: 'routes drain',
  about: 'Gives a route no new messages; it sends those it has, and goes on with reports and replies.',
  options,
  positional: ['name'],
  run: (sql, { name }) => become(sql, name, 'draining'),
});

const disable = command({
  name: 'routes disable',
  about: 'Closes a route’s sessions: it sends nothing, and no reports and replies come by it.',
  options,
  positional: ['name'],
  run: (sql, { name }) => become(sql, name, 'disabled'),
});

export const routeStateCommands = [enable, drain, disable];

async function become(sql: Sql, name: string, state: RouteState): Promise<Outcome> {
  const before = await holdRoute(sql, name);
  if (before.state !== state) await setRouteState(sql, name, state);
  const [seen] = await readOverview(sql, name);
  const queue = seen?.queue ?? 0;
  const unanswered = seen?.unanswered ?? 0;
  return {
    result: { name, state, queue, unanswered },
    subject: name,
    details: { from: before.state, to: state },
    ...remark([
      state === 'active' ? await simulatorRemark(sql) : await onlyUseRemark(sql, name),
      state === 'disabled' && queue > 0
        ? `${queue} of its messages wait; they go by another route where a rule allows one, else they stay until it is enabled.`
        : '',
    ]),
  };
}

async function onlyUseRemark(sql: Sql, name: string): Promise<string> {
  const uses = onlyUses(providerKinds.withTraits(await readRouting(sql)), name);
  return uses.length === 0
    ? ''
    : `No other active route takes all of: ${uses.join('; ')}. New messages that none takes are refused.`;
}
