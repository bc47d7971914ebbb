import { readRouteRules } from '../../../db/routes/routes.ts';
import { DEFAULT_WEIGHT, MAX_WEIGHT } from '../../../domain/staffLimits.ts';
import { findRoute } from '../../../operations/routes/find.ts';
import { addRule, removeRule } from '../../../operations/routes/rules.ts';
import { simulatedUseNow } from '../../../operations/routes/uses.ts';
import { command, optional, required, type Outcome, type Shown } from '../command.ts';
import { readNumber } from '../msisdn.ts';
import { accountId, numberPrefix, oneOf, routeName, text, wholeNumber, yesOrNo } from '../values.ts';
import { remark, ruleRecord, simulatorRemark } from './shown.ts';

const PERCENT = 100;

const type = oneOf('sms', 'mms', 'vms', 'hlr');
const ruleType = oneOf('sms', 'mms', 'vms', 'hlr', 'email');

const add = command({
  name: 'routes rules add',
  about: 'Gives a route work; without conditions, everything. The same conditions again change the weight.',
  options: {
    route: required('NAME', 'the route', routeName),
    prefix: optional('DIGITS|all', 'numbers that begin so, such as 48; default: all', numberPrefix),
    account: optional('ID', 'this account only; goes before all rules without an account', accountId),
    type: optional('sms|mms|vms|hlr|email', 'this type only; default: all the route can carry', ruleType),
    priority: optional('yes|no', 'only priority messages, or only the others', yesOrNo),
    weight: optional(
      'N',
      `the share among equal rules; default: ${DEFAULT_WEIGHT}`,
      wholeNumber(1, MAX_WEIGHT, ''),
    ),
  },
  async ask(asking, input): Promise<Shown> {
    const { rule, simulated } = await addRule({ ...asking, input });
    return { result: ruleRecord(rule), ...remark([simulatorRemark(simulated)]) };
  },
});

const remove = command({
  name: 'routes rules remove',
  about: 'Removes a rule; messages already given to the route stay there.',
  options: {
    rule: required('RULE', 'its number, from routes rules list', wholeNumber(1, Number.MAX_SAFE_INTEGER, '')),
  },
  positional: ['rule'],
  async ask(asking, input): Promise<Shown> {
    const { rule, simulated } = await removeRule({ ...asking, input });
    return { result: { ...ruleRecord(rule), removed: true }, ...remark([simulatorRemark(simulated)]) };
  },
});

const list = command({
  name: 'routes rules list',
  about: 'Lists what the routes are used for.',
  options: { route: optional('NAME', 'of one route', routeName) },
  async run(sql, values): Promise<Outcome> {
    if (values.route !== undefined) await findRoute(sql, values.route);
    const rules = (await readRouteRules(sql)).filter(({ route }) => route === (values.route ?? route));
    return {
      result: { data: rules.map(ruleRecord) },
      ...remark([simulatorRemark(await simulatedUseNow(sql))]),
    };
  },
});

const which = command({
  name: 'routes which',
  about: 'Lists the routes that a message would take now, the first choice first.',
  options: {
    to: required('NUMBER', 'the recipient', text),
    account: optional('ID', 'the sending account', accountId),
    type: optional('sms|mms|vms|hlr', 'default: sms', type),
    priority: optional('yes|no', 'default: no', yesOrNo),
  },
  async ask(asking, values): Promise<Shown> {
    const { whichRoutes } = await import('../../../operations/routes/which.ts');
    const input = { ...values, to: await readNumber('--to', values.to) };
    const choices = await whichRoutes({ ...asking, input });
    return {
      result: {
        data: choices.map(({ route, firstShare, working }) => ({
          ...{ route, first_choice_percent: Math.round(PERCENT * firstShare), working },
        })),
      },
      ...remark([choices.length === 0 ? 'No active route has a rule for it.' : '']),
    };
  },
});

export const routeRuleCommands = [add, remove, list, which];
