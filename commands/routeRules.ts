import { readRouteRules, type StoredRule } from '../db/routes/routes.ts';
import type { RouteRule, SimulatedUse } from '../domain/routing.ts';
import { DEFAULT_WEIGHT, MAX_WEIGHT } from '../domain/money.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { findRoute, simulatedUseNow } from '../operations/routes/routes.ts';
import { addRule, removeRule, whichRoutes } from '../operations/routes/rules.ts';
import { command, defaulted, optional, required, shown } from './command.ts';
import {
  accountId,
  choice,
  numberPrefix,
  oneOf,
  phoneNumber,
  routeName,
  wholeNumber,
  yesNo,
  yesOrNo,
} from './values.ts';

const weight = wholeNumber(1, MAX_WEIGHT);
const TYPES = ['sms', 'mms', 'vms', 'hlr'] as const;

export const routeRuleCommands = [
  command({
    name: 'routes rules add',
    about: 'Gives a route work; without conditions, everything. The same conditions again change the weight.',
    options: {
      route: required('--route <NAME>', 'the route', routeName),
      prefix: optional('--prefix <DIGITS|all>', 'numbers that begin so; default: all', numberPrefix),
      account: optional('--account <ID>', 'this one only; goes before rules without one', accountId),
      type: choice('--type', 'this type only; default: all the route can carry', ...TYPES, 'email'),
      priority: yesNo('--priority', 'only priority messages, or only the others'),
      weight: defaulted('--weight <N>', 'the share among equal rules', weight, DEFAULT_WEIGHT),
    },
    async ask(asking, input) {
      const { rule, simulated } = await addRule({ ...asking, input });
      return shown(ruleRecord(rule), simulatorRemark(simulated));
    },
  }),
  command({
    name: 'routes rules remove',
    about: 'Removes a rule; messages already given to the route stay there.',
    options: {
      rule: required('<RULE>', 'its number, from routes rules list', wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    },
    async ask(asking, input) {
      const { rule, simulated } = await removeRule({ ...asking, input });
      return shown({ ...ruleRecord(rule), removed: true }, simulatorRemark(simulated));
    },
  }),
  command({
    name: 'routes rules list',
    about: 'Lists what the routes are used for.',
    options: { route: optional('--route <NAME>', 'of one route', routeName) },
    async run(sql, { route: only }) {
      if (only !== undefined) await findRoute(sql, only);
      const rules = (await readRouteRules(sql)).filter(({ route }) => route === (only ?? route));
      return shown({ data: rules.map(ruleRecord) }, simulatorRemark(await simulatedUseNow(sql)));
    },
  }),
  command({
    name: 'routes which',
    about: 'Lists the routes that a message would take now, and by which rules, the first choice first.',
    options: {
      to: required('--to <NUMBER>', 'the recipient', phoneNumber),
      account: optional('--account <ID>', 'the sending account', accountId),
      type: defaulted('--type <sms|mms|vms|hlr>', 'what is sent', oneOf(...TYPES), 'sms'),
      priority: defaulted('--priority <yes|no>', 'a priority message', yesOrNo, false),
    },
    async run(sql, input) {
      const choices = await whichRoutes(sql, input);
      const data = choices.map(({ rule, firstShare, working }) => ({
        route: rule.route,
        firstChoicePercent: Math.round(100 * firstShare),
        working,
        rule: rule.id,
        admits: conditionsInWords(rule),
      }));
      const none = choices.length === 0 ? 'No active route has a rule for it.' : null;
      return { ...shown({ data }, none), subject: maskMsisdn(input.to) };
    },
  }),
];

/** A rule as printed; null and `all` match everything. */
export function ruleRecord(rule: StoredRule) {
  const { id, route, prefix, ...conditions } = rule;
  return { id, route, prefix: prefix === '' ? 'all' : prefix, ...conditions };
}

/** What a rule admits: `numbers +48…, sms`. */
export function conditionsInWords({ prefix, accountId, type, priority }: RouteRule): string {
  const all = [
    prefix === '' ? null : `numbers +${prefix}…`,
    accountId === null ? null : `account ${accountId}`,
    type,
    priority === null ? null : priority ? 'priority' : 'not priority',
  ];
  return all.filter((condition) => condition !== null).join(', ') || 'everything';
}

/** A remark on the simulated network while it is in use. */
export function simulatorRemark(use: SimulatedUse | null): string | null {
  if (use === null) return null;
  const names = use.routes.join(', ');
  return use.beside
    ? `The simulated network (${names}) still takes what no other route has a rule for; it reaches no phone.`
    : `All messages go to the simulated network (${names}); it reaches no phone.`;
}
