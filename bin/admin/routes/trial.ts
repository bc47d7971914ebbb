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
    const settings = await checkSettings(route.kind, plainSettings(route));
    const kind = await kindOfRoute(route.kind);
    const credentials = kind.credentials === null ? {} : await openCredentials(route, tools);
    const started = Date.now();
    const tested = await kind.test(settings, credentials);
    if (!tested.ok)
      throw new AdminError('unavailable', `${name} does not work from here: ${printable(tested.problem)}`);
    return {
      result: { name, works: true, answer: printable(tested.answer), took_ms: Date.now() - started },
      subject: name,
    };
  },
});

export const routeTestCommands = [test];
