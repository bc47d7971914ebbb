import { tryRoute } from '../../../operations/routes/trial.ts';
import { command, required, type Shown } from '../command.ts';
import { printable } from '../printable.ts';
import { routeName } from '../values.ts';

const test = command({
  name: 'routes test',
  about: 'Binds to the SMSC, or asks the provider, now and from here; nothing is sent.',
  options: { name: required('NAME', 'the route; it may be disabled', routeName) },
  positional: ['name'],
  async ask(asking, { name }): Promise<Shown> {
    const { answer, tookMs } = await tryRoute({ ...asking, input: { route: name } });
    return { result: { name, works: true, answer: printable(answer), took_ms: tookMs } };
  },
});

export const routeTestCommands = [test];
