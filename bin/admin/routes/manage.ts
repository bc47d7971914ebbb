import { isDeepStrictEqual } from 'node:util';
import {
  addRoute,
  addRule,
  changeRoute,
  removeRoute,
  type RoutePatch,
  wasUsed,
} from '../../../db/routes/routes.ts';
import { command, optional, required, type Outcome } from '../command.ts';
import { invalidArgument, refused } from '../problems.ts';
import { CALLBACK_REMARK, callbackAddresses } from './callbacks.ts';
import { credentialOptions, newCredentials } from './credentials.ts';
import { KIND_PLACEHOLDER, kindName, kindOfRoute } from './kinds.ts';
import { findRoute, holdRoute, plainSettings, remark, summary } from './lookup.ts';
import { readSettings, settingOptions } from './options.ts';
import { simulatorRemark } from './use.ts';
import { numberPrefix, orNone, routeName, wholeNumber } from '../values.ts';

const MAX_RATE = 100_000;
const DEFAULT_BROKEN_AFTER_S = 10;
const DAY_S = 86_400;

const paceOptions = {
  rate: optional(
    'N|none',
    'parts per second that the operator allows; default: no limit',
    orNone(wholeNumber(1, MAX_RATE, '')),
  ),
  brokenAfter: optional(
    'SECONDS',
    `without a session for so long it counts as broken; default: ${DEFAULT_BROKEN_AFTER_S}`,
    wholeNumber(1, DAY_S, ''),
  ),
};

const add = command({
  name: 'routes add',
  about: 'Adds a way to an operator; running workers open it within a second or two.',
  options: {
    name: required('NAME', 'for good: messages keep it', routeName),
    kind: required(KIND_PLACEHOLDER, 'how it is spoken to', kindName),
    ...paceOptions,
    ...settingOptions,
    ...credentialOptions,
    prefix: optional(
      'DIGITS|all',
      'adds a rule: numbers that begin so; without it the route is used for nothing yet',
      numberPrefix,
    ),
  },
  async run(sql, values, tools): Promise<Outcome> {
    const { name, kind } = values;
    const settings = await readSettings(kindOfRoute(values), {}, values, tools);
    const route = {
      name,
      kind,
      state: 'active' as const,
      settings,
      credentials: await newCredentials({ name, kind, credentials: null }, values, tools),
      ratePerSecond: values.rate ?? null,
      brokenAfterS: values.brokenAfter ?? DEFAULT_BROKEN_AFTER_S,
    };
    if (!(await addRoute(sql, route))) throw refused(`There is already a route ${name}.`);
    const { prefix } = values;
    if (prefix !== undefined) {
      await addRule(sql, { route: name, prefix, accountId: null, type: null, priority: null, weight: 100 });
    }
    const callbacks = await callbackAddresses(route, tools);
    return {
      result: { ...summary(route), ...callbacks },
      subject: name,
      details: {
        kind,
        settings,
        rate_per_second: route.ratePerSecond,
        broken_after_s: route.brokenAfterS,
        prefix: prefix ?? null,
      },
      ...remark([
        prefix === undefined
          ? `It is used for nothing yet; see routes rules add.`
          : await simulatorRemark(sql),
        callbacks === null ? '' : CALLBACK_REMARK,
      ]),
    };
  },
});

const change = command({
  name: 'routes change',
  about: 'Changes settings of a route; those not named stay. Its sessions are opened anew.',
  options: { name: required('NAME', 'the route', routeName), ...paceOptions, ...settingOptions },
  positional: ['name'],
  async run(sql, values, tools): Promise<Outcome> {
    const before = await holdRoute(sql, values.name);
    const old = plainSettings(before);
    const settings = await readSettings(kindOfRoute(before), old, values, tools);
    const changes = {
      ...difference(old, settings),
      ...(values.rate === undefined
        ? {}
        : { rate_per_second: { from: before.ratePerSecond, to: values.rate } }),
      ...(values.brokenAfter === undefined
        ? {}
        : { broken_after_s: { from: before.brokenAfterS, to: values.brokenAfter } }),
    };
    if (Object.keys(changes).length === 0)
      throw invalidArgument('routes change', 'name at least one setting to change');
    const patch: RoutePatch = {
      settings,
      ...(values.rate === undefined ? {} : { ratePerSecond: values.rate }),
      ...(values.brokenAfter === undefined ? {} : { brokenAfterS: values.brokenAfter }),
    };
    await changeRoute(sql, before.name, patch);
    return { result: summary(await findRoute(sql, before.name)), subject: before.name, details: { changes } };
  },
});

const credentials = command({
  name: 'routes credentials',
  about: 'Replaces the credentials of a route; its sessions are opened anew with them.',
  options: { name: required('NAME', 'the route', routeName), ...credentialOptions },
  positional: ['name'],
  async run(sql, values, tools): Promise<Outcome> {
    const route = await holdRoute(sql, values.name);
    await changeRoute(sql, route.name, { credentials: await newCredentials(route, values, tools) });
    return { result: { name: route.name, credentials: 'stored' }, subject: route.name };
  },
});

const remove = command({
  name: 'routes remove',
  about: 'Removes a route that was never used; one that was can only be disabled.',
  options: { name: required('NAME', 'the route', routeName) },
  positional: ['name'],
  async run(sql, { name }): Promise<Outcome> {
    const route = await holdRoute(sql, name);
    if (route.state !== 'disabled')
      throw refused(`Disable ${name} first, so that no message takes it meanwhile.`);
    if (await wasUsed(sql, name)) throw refused(`Messages have gone through ${name}: it stays, disabled.`);
    await removeRoute(sql, name);
    return {
      result: { name, removed: true },
      subject: name,
      details: { kind: route.kind, settings: plainSettings(route) },
    };
  },
});

export const manageCommands = [add, change, credentials, remove];

function difference(
  old: Record<string, unknown>,
  settings: Record<string, unknown>,
): Record<string, unknown> {
  const names = new Set([...Object.keys(old), ...Object.keys(settings)]);
  return Object.fromEntries(
    [...names]
      .filter((name) => !isDeepStrictEqual(old[name], settings[name]))
      .map((name) => [name, { from: old[name] ?? null, to: settings[name] ?? null }]),
  );
}
