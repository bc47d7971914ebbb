import type { Sql } from '../../../db/connection.ts';
import {
  addRule,
  readRouteRules,
  readRouting,
  removeRule,
  type StoredRule,
} from '../../../db/routes/routes.ts';
import { orderRoutes, type RouteTraffic } from '../../../domain/routing.ts';
import { providerKinds } from '../../../providers/registry.ts';
import { command, optional, required, type Outcome } from '../command.ts';
import { findAccount } from '../../../operations/accounts/find.ts';
import { readNumber } from '../msisdn.ts';
import { invalidArgument, notFound } from '../problems.ts';
import { kindOfRoute } from './kinds.ts';
import { findRoute, holdRoute, remark } from './lookup.ts';
import { simulatorRemark } from './use.ts';
import { accountId, numberPrefix, oneOf, routeName, text, wholeNumber, yesOrNo } from '../values.ts';

const DEFAULT_WEIGHT = 100;
const MAX_WEIGHT = 1_000_000;
// So many messages are imagined to see how they would be shared out.
const SAMPLES = 1_000;
const PERCENT = 100;

const type = oneOf('sms', 'mms', 'vms', 'hlr');

const add = command({
  name: 'routes rules add',
  about: 'Gives a route work; without conditions, everything. The same conditions again change the weight.',
  options: {
    route: required('NAME', 'the route', routeName),
    prefix: optional('DIGITS|all', 'numbers that begin so, such as 48; default: all', numberPrefix),
    account: optional('ID', 'this account only; goes before all rules without an account', accountId),
    type: optional('sms|mms|vms|hlr', 'this type only; default: all the route can carry', type),
    priority: optional('yes|no', 'only priority messages, or only the others', yesOrNo),
    weight: optional(
      'N',
      `the share among equal rules; default: ${DEFAULT_WEIGHT}`,
      wholeNumber(1, MAX_WEIGHT, ''),
    ),
  },
  async run(sql, values): Promise<Outcome> {
    const { name, traits } = kindOfRoute(await holdRoute(sql, values.route));
    if (values.type !== undefined && !traits.carries.includes(values.type)) {
      throw invalidArgument('--type', `a route of kind ${name} carries no ${values.type}`);
    }
    if (values.account !== undefined) await findAccount(sql, values.account);
    const rule = {
      route: values.route,
      prefix: values.prefix ?? '',
      accountId: values.account ?? null,
      type: values.type ?? null,
      priority: values.priority ?? null,
      weight: values.weight ?? DEFAULT_WEIGHT,
    };
    const record = ruleRecord({ ...rule, id: await addRule(sql, rule) });
    return {
      result: record,
      subject: values.route,
      ...(values.account === undefined ? {} : { account: values.account }),
      details: record,
      ...remark([await simulatorRemark(sql)]),
    };
  },
});

const remove = command({
  name: 'routes rules remove',
  about: 'Removes a rule; messages already given to the route stay there.',
  options: {
    rule: required('RULE', 'its number, from routes rules list', wholeNumber(1, Number.MAX_SAFE_INTEGER, '')),
  },
  positional: ['rule'],
  async run(sql, values): Promise<Outcome> {
    const rule = await removeRule(sql, values.rule);
    if (rule === undefined) throw notFound(`There is no rule ${values.rule}.`);
    return {
      result: { ...ruleRecord(rule), removed: true },
      subject: rule.route,
      ...(rule.accountId === null ? {} : { account: rule.accountId }),
      details: ruleRecord(rule),
      ...remark([await simulatorRemark(sql)]),
    };
  },
});

const list = command({
  name: 'routes rules list',
  about: 'Lists what the routes are used for.',
  options: { route: optional('NAME', 'of one route', routeName) },
  async run(sql, values): Promise<Outcome> {
    if (values.route !== undefined) await findRoute(sql, values.route);
    const rules = (await readRouteRules(sql)).filter(({ route }) => route === (values.route ?? route));
    return { result: { data: rules.map(ruleRecord) }, ...remark([await simulatorRemark(sql)]) };
  },
});

const which = command({
  name: 'routes which',
  about: 'Tells which routes a message would take now, the first choice first.',
  options: {
    to: required('NUMBER', 'the recipient', text),
    account: optional('ID', 'the sending account', accountId),
    type: optional('sms|mms|vms|hlr', 'default: sms', type),
    priority: optional('yes|no', 'default: no', yesOrNo),
  },
  async run(sql, values): Promise<Outcome> {
    const number = await readNumber('--to', values.to);
    const { maskMsisdn } = await import('../../../domain/msisdn.ts');
    if (values.account !== undefined) await findAccount(sql, values.account);
    const data = await choices(sql, {
      msisdn: number,
      accountId: values.account ?? '',
      type: values.type ?? 'sms',
      priority: values.priority ?? false,
    });
    return {
      result: { data },
      subject: maskMsisdn(number),
      ...(values.account === undefined ? {} : { account: values.account }),
      ...remark([data.length === 0 ? 'No active route has a rule for it.' : '']),
    };
  },
});

export const routeRuleCommands = [add, remove, list, which];

/** A rule as the command line shows it; null and '' admit everything. */
export function ruleRecord(rule: StoredRule): Record<string, unknown> {
  const { id, route, prefix, accountId: account, type: carried, priority, weight } = rule;
  return {
    id,
    route,
    prefix: prefix === '' ? 'all' : prefix,
    account_id: account,
    type: carried,
    priority,
    weight,
  };
}

async function choices(
  sql: Sql,
  traffic: { msisdn: string; accountId: string; type: RouteTraffic; priority: boolean },
): Promise<Record<string, unknown>[]> {
  const routing = providerKinds.withTraits(await readRouting(sql));
  const orders = Array.from({ length: SAMPLES }, (_, i) =>
    orderRoutes(routing, { ...traffic, key: `sample ${i}` }),
  );
  const placed = new Map<string, { first: number; places: number }>();
  for (const order of orders) {
    for (const [place, name] of order.entries()) {
      const { first, places } = placed.get(name) ?? { first: 0, places: 0 };
      placed.set(name, { first: first + Number(place === 0), places: places + place });
    }
  }
  return [...placed]
    .sort(([, a], [, b]) => a.places - b.places)
    .map(([name, { first }]) => ({
      route: name,
      first_choice_percent: Math.round((PERCENT * first) / SAMPLES),
      working: routing.routes.find((route) => route.name === name)?.working === true,
    }));
}
