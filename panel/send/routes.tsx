import { createHash, randomUUID } from 'node:crypto';
import { getAccount } from '../../api/account/account.ts';
import { listGroups } from '../../api/groups.ts';
import { type Estimate, estimateMessages } from '../../api/messages/estimate.ts';
import { getMessage } from '../../api/messages/history.ts';
import { sendMessages } from '../../api/messages/send.ts';
import { listSenders } from '../../api/senders.ts';
import { getTemplate, listTemplates } from '../../api/templates.ts';
import { listVerifiedNumbers } from '../../db/accounts/staff.ts';
import { RESERVED_KEYS } from '../../domain/placeholders.ts';
import { ANY_TIME } from '../../operations/sending/plan.ts';
import { ask, type Fault, faultOf, attempt } from '../ask.ts';
import { PLACES } from '../menu.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Confirmation } from './confirmation.tsx';
import { bodyOf, digestOf, FORM_BYTES, type Typed, typedIn } from './form.ts';
import { Estimated, Params, SendForm } from './view.tsx';
import { words } from './words.ts';

const ROLES = PLACES.send.roles;
const KEY = /^[0-9a-f-]{36}$/;

/** What the form would come to: an estimate, or what is wrong with it. */
type Outcome = { answer: Estimate; fault: null } | { answer: null; fault: Fault };
const NOTHING_YET = { answer: null, fault: null };

async function estimateOf(visit: MemberVisit, typed: Typed): Promise<Outcome> {
  const { language } = visit;
  const body = bodyOf(typed);
  if (body === null) return { answer: null, fault: { field: 'send_at', text: words[language].noSuchTime } };
  return await attempt(language, ask(visit, estimateMessages, { body }));
}

/** Placeholders of the chosen template that are not the contact book's own. */
async function paramsOf(visit: MemberVisit, typed: Typed): Promise<string[]> {
  const id = typed.get('template_id');
  if (id === undefined) return [];
  const { answer } = await attempt(visit.language, ask(visit, getTemplate, { params: { id } }));
  return (answer?.placeholders ?? []).filter((name) => !RESERVED_KEYS.includes(name));
}

interface Shown {
  outcome?: Outcome | typeof NOTHING_YET;
  /** Id of a test message just sent. */
  tested?: string;
}

async function formPage(visit: MemberVisit, typed: Typed, shown: Shown = {}): Promise<Answer> {
  const { language, services, account } = visit;
  const { outcome = NOTHING_YET, tested } = shown;
  const [groups, templates, senders, { send_window }, numbers, params] = await Promise.all([
    ask(visit, listGroups),
    ask(visit, listTemplates),
    ask(visit, listSenders),
    ask(visit, getAccount),
    listVerifiedNumbers(services.sql, account.id),
    paramsOf(visit, typed),
  ]);
  const choices = {
    groups: groups.data,
    templates: templates.data.filter(({ type }) => type === 'sms'),
    senders: senders.data.map(({ name }) => name),
    sender: senders.current,
    window: send_window,
    ownNumber: numbers[0]?.msisdn ?? null,
  };
  const view = <SendForm {...{ language, typed, choices, params, outcome, tested }} formKey={randomUUID()} />;
  return { status: outcome.fault === null ? 200 : 422, title: words[language].heading, view };
}

/** The empty form, or filled in by a link: with the fields in the address, or as an earlier message was. */
async function open(visit: MemberVisit): Promise<Answer> {
  const again = visit.query.get('again');
  const typed = again === null ? typedIn(visit.query) : await messageAgain(visit, again);
  const outcome = typed.has('to') && typed.has('text') ? await estimateOf(visit, typed) : NOTHING_YET;
  return formPage(visit, typed, { outcome });
}

/** An earlier message, with new short links in place of its own. */
async function messageAgain(visit: MemberVisit, id: string): Promise<Typed> {
  const { to, text, links } = await ask(visit, getMessage, { params: { id } });
  const written = links.reduce(
    (left, { short_url, url }) => left.replaceAll(short_url.replace(/^https?:\/\//, ''), `{{link:${url}}}`),
    text,
  );
  return new Map([
    ['to', to],
    ['text', written],
  ]);
}

/** The form as typed with what it would come to; while typing, that alone. */
async function estimate(visit: MemberVisit): Promise<Answer> {
  const { language, form, headers } = visit;
  const typed = typedIn(form);
  const outcome = await estimateOf(visit, typed);
  if (headers['hx-request'] !== 'true') return formPage(visit, typed, { outcome });
  const view = (
    <>
      <Params {...{ language, typed, params: await paramsOf(visit, typed) }} />
      <Estimated {...{ language, outcome }} />
    </>
  );
  return { status: 200, title: words[language].heading, view };
}

async function confirm(visit: MemberVisit): Promise<Answer> {
  const typed = typedIn(visit.form);
  const outcome = await estimateOf(visit, typed);
  return outcome.fault === null
    ? confirmation(visit, typed, outcome.answer, randomUUID())
    : formPage(visit, typed, { outcome });
}

function confirmation(
  { language }: MemberVisit,
  typed: Typed,
  estimated: Estimate,
  key: string,
  hasChanged = false,
): Answer {
  const view = <Confirmation {...{ language, typed, estimate: estimated, hasChanged }} sendKey={key} />;
  return { status: hasChanged ? 409 : 200, title: words[language].confirmHeading, view };
}

/** Sends what was agreed to, once for each confirmation page: it has a key. */
async function send(visit: MemberVisit): Promise<Answer> {
  const { form } = visit;
  const typed = typedIn(form);
  const outcome = await estimateOf(visit, typed);
  if (outcome.fault !== null) return formPage(visit, typed, { outcome });
  const key = form.get('key') ?? '';
  const isAgreedTo = KEY.test(key) && form.get('digest') === digestOf(outcome.answer);
  if (!isAgreedTo)
    return confirmation(visit, typed, outcome.answer, KEY.test(key) ? key : randomUUID(), true);
  const reference = `panel-${key}`;
  const sent = await attempt(visit.language, sendOnce(visit, { ...bodyOf(typed), reference }, key));
  if (sent.fault !== null) return formPage(visit, typed, { outcome: sent });
  return { to: `/panel/messages?reference=${reference}` };
}

const sendOnce = (visit: MemberVisit, body: object, key: string) =>
  ask(visit, sendMessages, { body, idempotencyKeys: [{ key, field: null }] });

/** Sends the text to the account's own number, at once. The form stays as it was typed. */
async function test(visit: MemberVisit): Promise<Answer> {
  const { form, services, account, language } = visit;
  const typed = typedIn(form);
  const [own] = await listVerifiedNumbers(services.sql, account.id);
  const now = { to: own?.msisdn ?? '', groups: '', send_at: '', send_window: ANY_TIME };
  const body = bodyOf(new Map([...typed, ...Object.entries(now)]));
  // The same text from the same page is a double click; another text is another test.
  const key = createHash('sha256')
    .update(JSON.stringify([form.get('key'), body]))
    .digest('hex');
  try {
    const sent = await sendOnce(visit, body!, key);
    const outcome = await estimateOf(visit, typed);
    const shown = outcome.fault === null ? { outcome } : {};
    return await formPage(visit, typed, { ...shown, tested: 'messages' in sent ? '' : sent.id });
  } catch (thrown) {
    return formPage(visit, typed, { outcome: { answer: null, fault: faultOf(language, thrown) } });
  }
}

export const sendRoutes = [
  accountPage('/panel/send', ROLES, { get: open, post: confirm, formBytes: FORM_BYTES }),
  accountPage('/panel/send/estimate', ROLES, { post: estimate, formBytes: FORM_BYTES }),
  accountPage('/panel/send/test', ROLES, { post: test, formBytes: FORM_BYTES }),
  accountPage('/panel/send/confirm', ROLES, { post: send, formBytes: FORM_BYTES }),
];
