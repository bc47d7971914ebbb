import { routeCallbackCommands } from './callbacks.ts';
import { manageCommands } from './manage.ts';
import { routeRuleCommands } from './rules.ts';
import { routeStateCommands } from './states.ts';
import { routeTestCommands } from './trial.ts';
import { routeViewCommands } from './view.ts';

/** All commands about routes, in the order of the help. */
export const routeCommands = [
  ...routeViewCommands,
  ...manageCommands,
  ...routeStateCommands,
  ...routeCallbackCommands,
  ...routeTestCommands,
  ...routeRuleCommands,
];
