import {
  DEFAULT_BROKEN_AFTER_S,
  MAX_BROKEN_AFTER_S,
  MAX_PARTS_PER_SECOND,
} from '../../../domain/staffLimits.ts';
import { addRoute } from '../../../operations/routes/add.ts';
import { changeRoute } from '../../../operations/routes/change.ts';
import { replaceCredentials } from '../../../operations/routes/credentials.ts';
import { removeRoute } from '../../../operations/routes/remove.ts';
import { command, optional, required, type Shown, type Values } from '../command.ts';
import { numberPrefix, orNone, routeName, wholeNumber } from '../values.ts';
import { CALLBACK_REMARK, callbackRecord } from './callbacks.ts';
import { KIND_PLACEHOLDER, kindName } from './kinds.ts';
import { credentialOptions, readCredentials, readSettings, settingOptions } from './options.ts';
import { remark, simulatorRemark, summary } from './shown.ts';

const paceOptions = {
  rate: optional(
    'N|none',
    'parts per second that the provider allows; default: no limit',
    orNone(wholeNumber(1, MAX_PARTS_PER_SECOND, '')),
  ),
  brokenAfter: optional(
    'SECONDS',
    `without a session for so long it counts as broken; default: ${DEFAULT_BROKEN_AFTER_S}`,
    wholeNumber(1, MAX_BROKEN_AFTER_S, ''),
  ),
};

const add = command({
  name: 'routes add',
  about: 'Adds a way to a provider; running workers open it within a second or two.',
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
  async ask(asking, values, tools): Promise<Shown> {
    const { name, kind, prefix } = values;
    const input = {
      ...{ name, kind, ...paceOf(values) },
      settings: await readSettings(values, tools),
      credentials: await readCredentials(values, tools),
      ...(prefix === undefined ? {} : { prefix }),
    };
    const { route, callbacks, simulated } = await addRoute({ ...asking, input });
    return {
      result: { ...summary(route), ...(callbacks === null ? {} : callbackRecord(callbacks)) },
      ...remark([
        prefix === undefined
          ? `It is used for nothing yet; see routes rules add.`
          : simulatorRemark(simulated),
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
  async ask(asking, values, tools): Promise<Shown> {
    const changes = { ...paceOf(values), settings: await readSettings(values, tools) };
    return { result: summary(await changeRoute({ ...asking, input: { route: values.name, changes } })) };
  },
});

const credentials = command({
  name: 'routes credentials',
  about: 'Replaces the credentials of a route; its sessions are opened anew with them.',
  options: { name: required('NAME', 'the route', routeName), ...credentialOptions },
  positional: ['name'],
  async ask(asking, values, tools): Promise<Shown> {
    const { name } = values;
    const input = { route: name, credentials: await readCredentials(values, tools) };
    await replaceCredentials({ ...asking, input });
    return { result: { name, credentials: 'stored' } };
  },
});

const remove = command({
  name: 'routes remove',
  about: 'Removes a route that was never used; one that was can only be disabled.',
  options: { name: required('NAME', 'the route', routeName) },
  positional: ['name'],
  async ask(asking, { name }): Promise<Shown> {
    await removeRoute({ ...asking, input: { route: name } });
    return { result: { name, removed: true } };
  },
});

export const manageCommands = [add, change, credentials, remove];

function paceOf({ rate, brokenAfter }: Values<typeof paceOptions>) {
  return {
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
    ...(brokenAfter === undefined ? {} : { brokenAfterS: brokenAfter }),
  };
}
