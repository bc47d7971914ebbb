import {
  disableRoute,
  drainRoute,
  enableRoute,
  type SwitchedRoute,
} from '../../../operations/routes/states.ts';
import { command, required, type Shown } from '../command.ts';
import { routeName } from '../values.ts';
import { conditions, remark, simulatorRemark } from './shown.ts';

const options = { name: required('NAME', 'the route', routeName) };

const enable = command({
  name: 'routes enable',
  about: 'Lets a route take messages again.',
  options,
  positional: ['name'],
  ask: async (asking, { name }) => shown(name, await enableRoute({ ...asking, input: { route: name } })),
});

const drain = command({
  name: 'routes drain',
  about: 'Gives a route no new messages; it sends those it has, and goes on with reports and replies.',
  options,
  positional: ['name'],
  ask: async (asking, { name }) => shown(name, await drainRoute({ ...asking, input: { route: name } })),
});

const disable = command({
  name: 'routes disable',
  about: 'Closes a route’s sessions: it sends nothing, and no reports and replies come by it.',
  options,
  positional: ['name'],
  ask: async (asking, { name }) => shown(name, await disableRoute({ ...asking, input: { route: name } })),
});

export const routeStateCommands = [enable, drain, disable];

function shown(name: string, { state, queue, unanswered, simulated, untaken }: SwitchedRoute): Shown {
  return {
    result: { name, state, queue, unanswered },
    ...remark([
      simulatorRemark(simulated),
      untaken.length === 0
        ? ''
        : `No other active route takes all of: ${untaken.map(conditions).join('; ')}. New messages that none takes are refused.`,
      state === 'disabled' && queue > 0
        ? `${queue} of its messages and e-mails wait; they go by another route where a rule allows one, else they stay until it is enabled.`
        : '',
    ]),
  };
}
