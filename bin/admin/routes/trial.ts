import type { Sql } from '../../../db/connection.ts';
import { readOverview } from '../../../db/routes/routeOverview.ts';
import { command, required, type Outcome } from '../command.ts';
import { AdminError } from '../problems.ts';
import { openCredentials } from './credentials.ts';
import { printable } from '../printable.ts';
import { checkSettings, kindOfRoute } from './kinds.ts';
import { findRoute, plainSettings } from './lookup.ts';
import { routeName } from '../values.ts';

const test = command({
  name: 'routes test',
  about: 'Binds to the SMSC, or asks the provider, now and from here; nothing is sent.',
  options: { name: required('NAME', 'the route; it may be disabled', routeName) },
  positional: ['name'],
  outside: true,
  async run(sql, { name }, tools): Promise<Outcome> {
    const route = await findRoute(sql, name);
    const kind = kindOfRoute(route);
    const settings = checkSettings(kind, plainSettings(route));
    const credentials = kind.secret === null ? null : await openCredentials(route, tools);
    const started = Date.now();
    const tested = await kind.test(settings, credentials);
    if (!tested.ok) {
      const problem = `${name} does not work from here: ${printable(tested.problem)}`;
      throw new AdminError('unavailable', `${problem}${await inUseRemark(sql, name)}`);
    }
    return {
      result: { name, works: true, answer: printable(tested.answer), took_ms: Date.now() - started },
      subject: name,
    };
  },
});

export const routeTestCommands = [test];

// Operators count binds: a test comes on top of what the workers have open, and is what they refuse then.
async function inUseRemark(sql: Sql, name: string): Promise<string> {
  const [seen] = await readOverview(sql, name);
  const sessions = (seen?.workers ?? []).reduce((sum, worker) => sum + worker.sessions, 0);
  return sessions === 0
    ? ''
    : `. Running workers have ${sessions} of its sessions open: the operator may allow no more beside them.`;
}
