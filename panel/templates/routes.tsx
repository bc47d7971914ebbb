import { type Estimate, estimateMessages, estimateMms, estimateVoice } from '../../api/messages/estimate.ts';
import { changeTemplate, createTemplate, deleteTemplate, getTemplate } from '../../api/templates.ts';
import { listTemplates } from '../../db/messages/templates.ts';
import type { NamePage } from '../../db/names.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { TEMPLATE_NAME_MAX } from '../../domain/placeholders.ts';
import { ask, attempt, type Fault } from '../ask.ts';
import { byName } from '../byName.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { type Form, List, Template, type TypeName } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/templates';
// The longest text, percent-encoded.
const FORM_BYTES = 1024 * 1024;
const BLANK: Form = { name: '', type: 'sms', subject: '', body: '', to: '' };

async function list(visit: MemberVisit): Promise<Answer> {
  const { services, account, language, query, caller } = visit;
  const read = (page: NamePage) => listTemplates(services.sql, account.id, page);
  const { page: templates, next } = await byName(query, read);
  const manages = caller.scopes.includes('manage');
  const view = <List {...{ language, query, templates, next, manages }} />;
  return { status: 200, title: words[language].heading, view };
}

interface Typed {
  form: Form;
  fault?: Fault | null;
  preview?: Estimate | null;
}

/** A template's page; without an id in the address, of a new one. */
async function page(visit: MemberVisit, typed?: Typed): Promise<Answer> {
  const { language, params, query, caller } = visit;
  const stored = 'id' in params ? await ask(visit, getTemplate, { params }) : null;
  const { form, fault = null, preview = null } = typed ?? { form: formOf(stored) };
  const title = stored?.name ?? words[language].add;
  const manages = caller.scopes.includes('manage');
  const view = (
    <Template
      {...{ language, form, fault, preview, manages }}
      id={stored?.id ?? null}
      saved={query.has('saved')}
    />
  );
  return { status: fault === null ? 200 : 422, title, view };
}

function formOf(stored: (Omit<Form, 'to' | 'subject'> & { subject: string | null }) | null): Form {
  return stored === null ? BLANK : { ...BLANK, ...stored, subject: stored.subject ?? '' };
}

async function save(visit: MemberVisit): Promise<Answer> {
  const { language, params } = visit;
  const form = typedForm(visit);
  if (visit.form.get('act') === 'preview') return preview(visit, form);
  const { name, type, subject, body: text } = form;
  const body = { name, type, subject, body: text };
  const asked =
    'id' in params ? ask(visit, changeTemplate, { params, body }) : ask(visit, createTemplate, { body });
  const { answer, fault } = await attempt(language, asked);
  return fault === null ? { to: `${PATH}/${answer.id}?saved` } : page(visit, { form, fault });
}

function typedForm({ form }: MemberVisit): Form {
  const names = Object.keys(BLANK) as (keyof Form)[];
  return { ...BLANK, ...Object.fromEntries(names.map((name) => [name, form.get(name) ?? BLANK[name]])) };
}

const ESTIMATES = { sms: estimateMessages, mms: estimateMms, vms: estimateVoice } as const;

async function preview(visit: MemberVisit, form: Form): Promise<Answer> {
  const { to, type, subject, body } = form;
  const isMms = type === 'mms';
  const asked = ask(visit, Object.hasOwn(ESTIMATES, type) ? ESTIMATES[type as TypeName] : estimateMessages, {
    body: { to: to.trim(), ...(isMms ? { smil: body, subject } : { text: body }) },
  });
  const { answer, fault } = await attempt(visit.language, asked);
  if (fault === null) return page(visit, { form, preview: answer });
  const isOfText = fault.field === 'text' || fault.field === 'smil';
  return page(visit, { form, fault: isOfText ? { ...fault, field: 'body' } : fault });
}

async function copy(visit: MemberVisit): Promise<Answer> {
  const { language, params } = visit;
  const { name, type, subject, body } = await ask(visit, getTemplate, { params });
  const ownName = [...words[language].copyOf(name)].slice(0, TEMPLATE_NAME_MAX).join('');
  const { id } = await ask(visit, createTemplate, { body: { name: ownName, type, subject, body } });
  return { to: `${PATH}/${id}` };
}

export const templateRoutes = [
  accountPage(PATH, ROLES, { get: list }),
  accountPage(`${PATH}/new`, MANAGERS, { get: (visit) => page(visit), post: save, formBytes: FORM_BYTES }),
  accountPage(`${PATH}/:id`, ROLES, { get: (visit) => page(visit) }),
  accountPage(`${PATH}/:id`, MANAGERS, { post: save, formBytes: FORM_BYTES }),
  accountPage(`${PATH}/:id/copy`, MANAGERS, { post: copy }),
  accountPage(`${PATH}/:id/delete`, MANAGERS, {
    async post(visit) {
      await ask(visit, deleteTemplate, { params: visit.params });
      return { to: PATH };
    },
  }),
];
