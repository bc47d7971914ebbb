import { readFileSync } from 'node:fs';
import { changeWebhook, listDeliveries, resendDelivery } from '../../api/account/webhook.ts';
import { MANAGERS } from '../../domain/actor.ts';
import { addDays, parseDay, polishDay, startOfDay } from '../../domain/calendar.ts';
import { isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import {
  configureLegacyWebhook,
  configureWebhook,
  describeWebhooks,
} from '../../operations/webhooks/configure.ts';
import { showDelivery, testWebhook } from '../../operations/webhooks/deliveries.ts';
import { resendFailed } from '../../operations/webhooks/resend.ts';
import { staffServices } from '../../operations/staff.ts';
import { type AnswerOf, ask, type Fault, faultOf, filled, requireActive } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Addresses, NewSecret, Samples, type TypedAddress } from './addresses.tsx';
import { Delivery, Log } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/webhooks';
const ADDRESS_PATH = `${PATH}/address`;
const NOTHING = { data: [], next_cursor: null };

/** Start of a Polish day as the API takes it. @throws Refused naming the field */
function dayOf(field: string, text: string, later = 0): string {
  const day = parseDay(text);
  if (day === null) throw new Refused({ reason: 'day_malformed', field }, field);
  return new Date(startOfDay(addDays(day, later))).toISOString();
}

function filtersOf(query: URLSearchParams): Record<string, string> {
  const { from, to, id, ...others } = filled(query, [
    ...['state', 'type', 'status_code', 'from', 'to', 'id', 'cursor'],
  ]);
  return {
    ...others,
    ...(from === undefined ? {} : { since: dayOf('from', from) }),
    ...(to === undefined ? {} : { until: dayOf('to', to, 1) }),
    ...(id === undefined ? {} : { message_id: id.trim() }),
  };
}

async function log(visit: MemberVisit, failure: Fault | null = null): Promise<Answer> {
  const { language, query } = visit;
  const id = (query.get('id') ?? '').trim();
  if (isId('evt', id)) return { to: `${PATH}/${id}` };
  const settings = await describeWebhooks(visit);
  let [page, fault]: [typeof NOTHING | Awaited<ReturnType<typeof list>>, Fault | null] = [NOTHING, failure];
  try {
    page = await list(visit);
  } catch (thrown) {
    fault = faultOf(language, thrown);
  }
  const today = polishDay(visit.receivedAt);
  return {
    status: fault === null ? 200 : 422,
    title: words[language].heading,
    view: <Log {...{ language, query, settings, page, fault, today }} />,
  };
}

// Where few of the latest events match the filters.
const LOOKS_MAX = 10;

async function list(visit: MemberVisit): Promise<AnswerOf<(typeof listDeliveries)['responses']>> {
  const query = filtersOf(visit.query);
  let page = await ask(visit, listDeliveries, { query });
  for (let looks = 1; looks < LOOKS_MAX && page.data.length === 0 && page.next_cursor !== null; looks += 1)
    page = await ask(visit, listDeliveries, { query: { ...query, cursor: page.next_cursor } });
  return page;
}

async function addresses(visit: MemberVisit, typed: TypedAddress = {}): Promise<Answer> {
  const { language } = visit;
  const settings = await describeWebhooks(visit);
  const status = typed.fault === undefined ? 200 : 422;
  return { status, title: words[language].addresses, view: <Addresses {...{ language, settings, typed }} /> };
}

/** Changes an address, or rotates its secret; a secret that is new is shown. */
async function change(visit: MemberVisit, field: 'url' | 'legacy_url'): Promise<Answer> {
  const { form, language } = visit;
  const before = await describeWebhooks(visit);
  const hint = field === 'url' ? before.hint : before.legacyHint;
  const rotate = form.has('rotate');
  const typed = (form.get(field) ?? '').trim();
  const url = rotate ? undefined : typed === '' ? null : typed;
  try {
    const secret = field === 'url' ? await changed(visit, url) : await changedEarlier(visit, url);
    if (!rotate && hint !== null) return { to: ADDRESS_PATH };
    const view = <NewSecret {...{ language, secret, isEarlier: field === 'legacy_url' }} />;
    return { status: 200, title: words[language].madeHeading, view };
  } catch (thrown) {
    const fault = faultOf(language, thrown);
    return addresses(visit, {
      [field]: typed,
      fault: { ...fault, field: fault.field === null ? null : field },
    });
  }
}

/** @param url undefined: it stays, and its secret is rotated */
async function changed(visit: MemberVisit, url: string | null | undefined): Promise<string> {
  if (url !== undefined) return (await ask(visit, changeWebhook, { body: { url } })).webhook_secret;
  requireActive(visit);
  return (await configureWebhook({ ...visit, input: { rotate_secret: true } })).secret;
}

/** @param url as of `changed` */
async function changedEarlier(visit: MemberVisit, url: string | null | undefined): Promise<string> {
  requireActive(visit);
  const { services, caller } = visit;
  const { legacyWebhookSecret } = await configureLegacyWebhook({
    ...{ services: staffServices(services), actor: caller.actor, request: caller },
    input: {
      account: caller.accountId,
      ...(url === undefined ? {} : { url }),
      rotateSecret: url === undefined,
      allowPrivate: services.settings.WEBHOOK_ALLOW_PRIVATE,
    },
  });
  return legacyWebhookSecret;
}

async function resendAll(visit: MemberVisit): Promise<Answer> {
  requireActive(visit);
  const { language, form } = visit;
  try {
    const since = Date.parse(dayOf('since', form.get('since') ?? ''));
    await resendFailed({ ...visit, input: { since } });
    return { to: `${PATH}?state=pending` };
  } catch (thrown) {
    const isNone = thrown instanceof Refused && thrown.refusal.reason === 'event_unknown';
    const fault = isNone ? { field: 'since', text: words[language].noneFailed } : faultOf(language, thrown);
    return log(visit, fault);
  }
}

async function delivery(visit: MemberVisit): Promise<Answer> {
  const { language, params, path } = visit;
  const shown = await showDelivery({ ...visit, input: { id: params['id'] ?? '' } });
  return { status: 200, title: words[language].event, view: <Delivery {...{ language, path, shown }} /> };
}

const SAMPLES = { Node: 'node.js', Python: 'python.py', PHP: 'php.php', OpenSSL: 'shell.sh' };
const samples = Object.entries(SAMPLES).map(([name, file]) => ({
  name,
  code: readFileSync(new URL(`samples/${file}`, import.meta.url), 'utf8'),
}));

export const webhookRoutes = [
  accountPage(PATH, MANAGERS, { get: (visit) => log(visit) }),
  accountPage(ADDRESS_PATH, MANAGERS, {
    get: (visit) => addresses(visit),
    post: (visit) => change(visit, 'url'),
    stepUp: true,
  }),
  accountPage(`${PATH}/earlier`, MANAGERS, { post: (visit) => change(visit, 'legacy_url'), stepUp: true }),
  accountPage(`${PATH}/signatures`, MANAGERS, {
    get: ({ language }) => ({
      status: 200,
      title: words[language].samples,
      view: <Samples {...{ language, samples }} />,
    }),
  }),
  accountPage(`${PATH}/test`, MANAGERS, {
    async post(visit) {
      requireActive(visit);
      const { id } = await testWebhook({ ...visit, input: null });
      return { to: `${PATH}/${id}` };
    },
  }),
  accountPage(`${PATH}/resend`, MANAGERS, { post: resendAll }),
  accountPage(`${PATH}/:id`, MANAGERS, { get: delivery }),
  accountPage(`${PATH}/:id/resend`, MANAGERS, {
    async post(visit) {
      const id = visit.params['id'] ?? '';
      await ask(visit, resendDelivery, { params: { id } });
      return { to: `${PATH}/${id}` };
    },
  }),
];
