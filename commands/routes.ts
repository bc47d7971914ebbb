import {
  readOnePartReporters,
  readOverview,
  type RouteOverview,
  type RouteWorker,
} from '../db/routes/routeOverview.ts';
import { readRouteRules, type Route } from '../db/routes/routes.ts';
import { StaffRefused } from '../domain/refusals.ts';
import { DEFAULT_BROKEN_AFTER_S, MAX_BROKEN_AFTER_S, MAX_PARTS_PER_SECOND } from '../domain/money.ts';
import {
  addRoute,
  changeRoute,
  disableRoute,
  drainRoute,
  enableRoute,
  removeRoute,
  type SwitchedRoute,
} from '../operations/routes/changes.ts';
import { type CallbackAddresses, handOutCallbacks } from '../operations/routes/callbacks.ts';
import { replaceCredentials } from '../operations/routes/credentials.ts';
import {
  checkedSettings,
  findRoute,
  kindOf,
  type PlainRoute,
  plainRoute,
  simulatedUseNow,
  storedSettings,
} from '../operations/routes/routes.ts';
import { tryRoute } from '../operations/routes/rules.ts';
import { providerKinds } from '../providers/registry.ts';
import { command, defaulted, flag, optional, required, type Shown, shown, type Values } from './command.ts';
import { refusalInWords } from './errors.ts';
import { credentialOptions, readCredentials, readSettings, settingOptions } from './routeOptions.ts';
import { conditionsInWords, ruleRecord, simulatorRemark } from './routeRules.ts';
import { numberPrefix, oneOf, orNone, routeName, wholeNumber } from './values.ts';

const BROKEN_ABOUT = `without a session it counts as broken after this; default: ${DEFAULT_BROKEN_AFTER_S}`;
const rate = wholeNumber(1, MAX_PARTS_PER_SECOND);
const KINDS = providerKinds.all.map(({ name }) => name);
const CALLBACK_REMARK =
  'The callback addresses contain a secret: enter them at the provider and keep them out of tickets and mails.';
// Fits the width of a terminal.
const NARROW = [
  ...['name', 'kind', 'state', 'working', 'sessions', 'sessions_wanted', 'in_flight'],
  ...['queue', 'unanswered', 'failures'],
];

const name = required('<NAME>', 'the route', routeName);

const limits = {
  rate: optional('--rate <N|none>', 'parts per second that the provider allows', orNone(rate)),
  brokenAfter: optional('--broken-after <SECONDS>', BROKEN_ABOUT, wholeNumber(1, MAX_BROKEN_AFTER_S)),
};

const SECRET_ABOUT = 'new: those so far are good for 24 hours more; replace: they end at once';

export const routeCommands = [
  command({
    name: 'routes list',
    about: 'Lists the routes and how they are.',
    options: { wide: flag('--wide', 'with everything that is known of each, as routes show has it') },
    async run(sql, { wide }) {
      const routes = await readOverview(sql);
      const data = routes.map((route) => ({
        name: route.name,
        kind: route.kind,
        state: route.state,
        ...health(route),
      }));
      return {
        result: { data },
        ...(wide ? {} : { columns: NARROW }),
        remarks: [
          simulatorRemark(await simulatedUseNow(sql)),
          ...(await readOnePartReporters(sql)).map(onePartRemark),
        ],
      };
    },
  }),
  command({
    name: 'routes show',
    about: 'Shows a route: settings with their defaults, rules, and each worker’s sessions.',
    options: { name },
    async run(sql, { name }) {
      const route = await findRoute(sql, name);
      const [seen] = await readOverview(sql, name);
      const rules = (await readRouteRules(sql)).filter((rule) => rule.route === name);
      const { settings, problem } = effectiveSettings(route);
      return {
        result: {
          ...routeRecord({ ...plainRoute(route), settings }),
          ...(seen === undefined ? {} : health(seen)),
          rules: rules.map(ruleRecord),
          workers: seen?.workers ?? [],
        },
        subject: name,
        remarks: [problem],
      };
    },
  }),
  command({
    name: 'routes add',
    about: 'Adds a way to a provider; running workers open it within a second or two.',
    options: {
      name: required('--name <NAME>', 'for good: messages keep it', routeName),
      kind: required(`--kind <${KINDS.join('|')}>`, 'its protocol or provider', oneOf(...KINDS)),
      ...limits,
      ...settingOptions,
      ...credentialOptions,
      prefix: optional('--prefix <DIGITS|all>', 'adds a rule: numbers that begin so', numberPrefix),
    },
    async ask(asking, values, tools) {
      const { name, kind, prefix } = values;
      const input = {
        name,
        kind,
        ...limitsOf(values),
        ...(prefix === undefined ? {} : { prefix }),
        settings: await readSettings(values, tools),
        credentials: await readCredentials(values, tools),
      };
      const { route, callbacks, simulated } = await addRoute({ ...asking, input });
      return shown(
        { ...routeRecord(route), ...(callbacks === null ? {} : callbackRecord(callbacks)) },
        prefix === undefined
          ? 'It is used for nothing yet; see routes rules add.'
          : simulatorRemark(simulated),
        callbacks === null ? null : CALLBACK_REMARK,
      );
    },
  }),
  command({
    name: 'routes change',
    about: 'Changes settings of a route; those not named stay. Its sessions are opened anew.',
    options: { name, ...limits, ...settingOptions },
    async ask(asking, values, tools) {
      const { name: route } = values;
      const changes = { ...limitsOf(values), settings: await readSettings(values, tools) };
      return shown(routeRecord(await changeRoute({ ...asking, input: { route, changes } })));
    },
  }),
  command({
    name: 'routes credentials',
    about: 'Replaces the credentials of a route; its sessions are opened anew with them.',
    options: { name, ...credentialOptions },
    async ask(asking, values, tools) {
      const input = { route: values.name, credentials: await readCredentials(values, tools) };
      await replaceCredentials({ ...asking, input });
      return shown({ name: values.name, credentials: 'stored' });
    },
  }),
  command({
    name: 'routes remove',
    about: 'Removes a route that was never used; one that was can only be disabled.',
    options: { name },
    async ask(asking, { name }) {
      await removeRoute({ ...asking, input: { route: name } });
      return shown({ name, removed: true });
    },
  }),
  command({
    name: 'routes enable',
    about: 'Lets a route take messages again.',
    options: { name },
    ask: async (asking, { name }) => switched(name, await enableRoute({ ...asking, input: { route: name } })),
  }),
  command({
    name: 'routes drain',
    about: 'Gives a route no new messages; it sends those it has, and goes on with reports and replies.',
    options: { name },
    ask: async (asking, { name }) => switched(name, await drainRoute({ ...asking, input: { route: name } })),
  }),
  command({
    name: 'routes disable',
    about: 'Closes a route’s sessions: it sends nothing, and no reports and replies come by it.',
    options: { name },
    ask: async (asking, { name }) =>
      switched(name, await disableRoute({ ...asking, input: { route: name } })),
  }),
  command({
    name: 'routes callbacks',
    about: 'Shows the addresses that a provider is to call; they contain a secret.',
    options: {
      name,
      secret: defaulted('--secret <keep|new|replace>', SECRET_ABOUT, oneOf('keep', 'new', 'replace'), 'keep'),
    },
    async ask(asking, { name, secret }) {
      const given = await handOutCallbacks({ ...asking, input: { route: name, secret } });
      return shown({ name, ...callbackRecord(given) }, CALLBACK_REMARK);
    },
  }),
  command({
    name: 'routes test',
    about: 'Binds to the SMSC, or asks the provider, now and from here; nothing is sent.',
    options: { name: required('<NAME>', 'the route; it may be disabled', routeName) },
    async before(sql, { name }) {
      const { kind, state } = await findRoute(sql, name);
      return shown({ name, kind, state });
    },
    async ask(asking, { name }) {
      const { answer, tookMs } = await tryRoute({ ...asking, input: { route: name } });
      return shown({ name, works: true, answer, tookMs });
    },
  }),
];

function routeRecord({ hasCredentials, ...route }: Omit<PlainRoute, 'settings'> & { settings: unknown }) {
  return { ...route, credentials: hasCredentials ? 'stored' : 'none' };
}

function onePartRemark({ route, messages }: { route: string; messages: number }): string {
  return `${route}: the SMSC reported on one part only of the latest ${messages} long messages, which end as expired; the setting {"longReports": "one-part"} lets that report count for all parts.`;
}

/** Sums over the workers, and their latest error. */
export function health(route: RouteOverview) {
  const { workers } = route;
  const sum = (count: (worker: RouteWorker) => number) => workers.reduce((all, one) => all + count(one), 0);
  const [latest] = workers
    .filter(({ lastErrorAt }) => lastErrorAt !== null)
    .sort((a, b) => Number(b.lastErrorAt) - Number(a.lastErrorAt));
  return {
    working: route.working,
    workedAt: route.workingAt,
    workersSeen: workers.length,
    sessions: sum(({ sessions }) => sessions),
    sessionsWanted: sum(({ sessionsWanted }) => sessionsWanted),
    window: sum(({ window }) => window),
    inFlight: sum(({ inFlight }) => inFlight),
    ratePerSecond: route.ratePerSecond,
    queue: route.queue,
    unanswered: route.unanswered,
    failures: sum(({ failures }) => failures),
    reportedAt: route.reportedAt,
    repliedAt: route.repliedAt,
    lastErrorAt: latest?.lastErrorAt ?? null,
    lastError: latest?.lastError ?? null,
  };
}

// A release with stricter rules than an earlier one must not hide what is stored.
function effectiveSettings(route: Route): { settings: unknown; problem: string | null } {
  try {
    return { settings: checkedSettings(kindOf(route), storedSettings(route)), problem: null };
  } catch (error) {
    if (!(error instanceof StaffRefused)) throw error;
    const why = refusalInWords(error).message.replace(/\.$/, '');
    return { settings: route.settings, problem: `The route cannot be opened: ${why}.` };
  }
}

// Without the options of provider kinds.
function limitsOf({ rate, brokenAfter }: Values<typeof limits>) {
  return {
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
    ...(brokenAfter === undefined ? {} : { brokenAfterS: brokenAfter }),
  };
}

function switched(name: string, { state, queue, unanswered, simulated, untaken }: SwitchedRoute): Shown {
  return shown(
    { name, state, queue, unanswered },
    simulatorRemark(simulated),
    untaken.length === 0
      ? null
      : `No other active route takes all of: ${untaken.map(conditionsInWords).join('; ')}. New messages that none takes are refused.`,
    state === 'disabled' && queue > 0
      ? `${queue} of its messages and e-mails wait; they go by another route where a rule allows one, else they stay until it is enabled.`
      : null,
  );
}

function callbackRecord({ addresses, formerUntil }: CallbackAddresses) {
  const shown = Object.entries(addresses).map(([what, address]) => [`callback_${what}`, address]);
  return {
    ...(Object.fromEntries(shown) as object),
    ...(formerUntil === null ? {} : { formerGoodUntil: formerUntil }),
  };
}
