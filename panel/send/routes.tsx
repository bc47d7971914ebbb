import { createHash, randomUUID } from 'node:crypto';
import { getAccount } from '../../api/account/account.ts';
import { type Estimate, estimateMessages } from '../../api/messages/estimate.ts';
import { getMessage } from '../../api/messages/history.ts';
import { sendMessages } from '../../api/messages/send.ts';
import { listSenders } from '../../api/senders.ts';
import { getTemplate } from '../../api/templates.ts';
import { listVerifiedNumbers } from '../../db/accounts/staff.ts';
import { listGroups, readGroup } from '../../db/contacts/groups.ts';
import { listTemplateNames } from '../../db/messages/templates.ts';
import { MANAGERS } from '../../domain/actor.ts';
import { RESERVED_KEYS } from '../../domain/placeholders.ts';
import { canonical } from '../../operations/sending/idempotency.ts';
import { ANY_TIME } from '../../operations/sending/plan.ts';
import { type AnswerOf, ask, type Fault, attempt } from '../ask.ts';
import { offered, SHOWN_MAX } from '../byName.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Confirmation } from './confirmation.tsx';
import { bodyOf, digestOf, FORM_BYTES, type Typed, typedIn } from './form.ts';
import { Estimated, Params, SendForm } from './view.tsx';
import { words } from './words.ts';

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

/** Of the form, through all its pages: the same content is sent from it once. */
function keyOf({ form }: MemberVisit): string {
  const given = form.get('key') ?? '';
  return KEY.test(given) ? given : randomUUID();
}

type Template = AnswerOf<(typeof getTemplate)['responses']>;

async function templateOf(visit: MemberVisit, typed: Typed): Promise<Template | null> {
  const id = typed.get('template_id');
  if (id === undefined) return null;
  return (await attempt(visit.language, ask(visit, getTemplate, { params: { id } }))).answer;
}

/** Placeholders of a template that are not the contact book's own. */
function paramsOf(template: Template | null): string[] {
  return (template?.placeholders ?? []).filter((name) => !RESERVED_KEYS.includes(name));
}

/** @param tested id of a test message just sent */
async function formPage(
  visit: MemberVisit,
  typed: Typed,
  outcome: Outcome | typeof NOTHING_YET,
  tested?: string,
): Promise<Answer> {
  const { language, services, account } = visit;
  const { sql } = services;
  const [groups, group, templates, template, senders, { send_window }, numbers] = await Promise.all([
    listGroups(sql, account.id, { limit: SHOWN_MAX }),
    readGroup(sql, account.id, typed.get('groups') ?? ''),
    listTemplateNames(sql, account.id, 'sms', SHOWN_MAX),
    templateOf(visit, typed),
    ask(visit, listSenders),
    ask(visit, getAccount),
    listVerifiedNumbers(sql, account.id),
  ]);
  const choices = {
    groups: offered(groups, group),
    templates: offered(templates, template?.type === 'sms' ? template : null),
    senders: senders.data.map(({ name }) => name),
    sender: senders.current,
    window: send_window,
    ownNumber: numbers[0]?.msisdn ?? null,
  };
  const formKey = tested === undefined ? keyOf(visit) : randomUUID();
  const params = paramsOf(template);
  const view = <SendForm {...{ language, typed, choices, params, outcome, tested, formKey }} />;
  return { status: outcome.fault === null ? 200 : 422, title: words[language].heading, view };
}

/** The empty form, or filled in by a link: with the fields in the address, or as an earlier message was. */
async function open(visit: MemberVisit): Promise<Answer> {
  const again = visit.query.get('again');
  const typed = again === null ? typedIn(visit.query) : await messageAgain(visit, again);
  const outcome = typed.has('to') && typed.has('text') ? await estimateOf(visit, typed) : NOTHING_YET;
  return formPage(visit, typed, outcome);
}

/** An earlier message, with new short links in place of its own. */
async function messageAgain(visit: MemberVisit, id: string): Promise<Typed> {
  const { to, text, links } = await ask(visit, getMessage, { params: { id } });
  const written = links.reduce(
    (left, { short_url, url }) =>
      left.replaceAll(short_url.replace(/^https?:\/\//, ''), () => `{{link:${url}}}`),
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
  if (headers['hx-request'] !== 'true') return formPage(visit, typed, outcome);
  const view = (
    <>
      <Params {...{ language, typed, params: paramsOf(await templateOf(visit, typed)) }} />
      <Estimated {...{ language, outcome }} />
    </>
  );
  return { status: 200, title: words[language].heading, view };
}

async function confirm(visit: MemberVisit): Promise<Answer> {
  const typed = typedIn(visit.form);
  const outcome = await estimateOf(visit, typed);
  return outcome.fault === null
    ? confirmation(visit, typed, outcome.answer)
    : formPage(visit, typed, outcome);
}

/** @param refusal why an earlier confirmation sent nothing, as far as is known */
function confirmation(
  visit: MemberVisit,
  typed: Typed,
  estimated: Estimate,
  refusal: string | null = null,
): Answer {
  const { language, receivedAt } = visit;
  const fields = { key: keyOf(visit), digest: digestOf(estimated, receivedAt) };
  const view = <Confirmation {...{ language, typed, estimate: estimated, refusal, fields }} />;
  return { status: refusal === null ? 200 : 422, title: words[language].confirmHeading, view };
}

/** Sends what was agreed to. */
async function send(visit: MemberVisit): Promise<Answer> {
  const { form, language } = visit;
  const typed = typedIn(form);
  const outcome = await estimateOf(visit, typed);
  if (outcome.fault !== null) return formPage(visit, typed, outcome);
  const again = (refusal: string) => confirmation(visit, typed, outcome.answer, refusal);
  if (form.get('digest') !== digestOf(outcome.answer, visit.receivedAt))
    return again(words[language].changed);
  const { message, fault } = await sendOnce(visit, bodyOf(typed)!);
  return fault === null ? { to: `/panel/messages?reference=${message.reference}` } : again(fault.text);
}

/** Sends the text to the account's own number, at once. The form stays as it was typed. */
async function test(visit: MemberVisit): Promise<Answer> {
  const { form, services, account } = visit;
  const typed = typedIn(form);
  const [own] = await listVerifiedNumbers(services.sql, account.id);
  const now = { to: own?.msisdn ?? '', groups: '', send_at: '', send_window: ANY_TIME };
  const { message, fault } = await sendOnce(visit, bodyOf(new Map([...typed, ...Object.entries(now)]))!);
  if (fault !== null) return formPage(visit, typed, { answer: null, fault });
  const outcome = await estimateOf(visit, typed);
  return formPage(visit, typed, outcome.fault === null ? outcome : NOTHING_YET, message.id);
}

/** Sends with a reference to find all of it by. @returns the first message */
async function sendOnce(visit: MemberVisit, body: object) {
  const key = createHash('sha256')
    .update(canonical([keyOf(visit), body]))
    .digest('hex');
  const asked = {
    body: { ...body, reference: `panel-${key.slice(0, 32)}` },
    idempotencyKeys: [{ key, field: null }],
  };
  const { answer, fault } = await attempt(visit.language, ask(visit, sendMessages, asked));
  if (fault !== null) return { message: null, fault };
  return { message: 'messages' in answer ? answer.messages[0]! : answer, fault };
}

export const sendRoutes = [
  accountPage('/panel/send', MANAGERS, { get: open, post: confirm, formBytes: FORM_BYTES }),
  accountPage('/panel/send/estimate', MANAGERS, { post: estimate, formBytes: FORM_BYTES }),
  accountPage('/panel/send/test', MANAGERS, { post: test, formBytes: FORM_BYTES }),
  accountPage('/panel/send/confirm', MANAGERS, { post: send, formBytes: FORM_BYTES }),
];
