import { z } from 'zod';
import { mapInChunks } from '../concurrency/tasks.ts';
import { listTemplates as readTemplates, readTemplate, type TemplateRow } from '../db/messages/templates.ts';
import {
  placeholderNames,
  TEMPLATE_BODY_MAX,
  TEMPLATE_NAME_MAX,
  TEMPLATE_SUBJECT_MAX,
  TEMPLATE_TYPES,
} from '../domain/placeholders.ts';
import { Refused } from '../domain/refusals.ts';
import { isBlank } from '../domain/text.ts';
import * as operations from '../operations/templates.ts';
import {
  createdAt,
  deletedSchema,
  documented,
  exampleId,
  filledText,
  lineText,
  omissible,
  omissibleWithDefault,
  pathId,
  updatedAt,
} from './fields.ts';
import { endpoint } from './http/endpoint.ts';

// The longest body (100,000 characters) with every character escaped, and the other fields.
const REQUEST_LIMIT = 608 * 1024;

const name = filledText.trim().max(TEMPLATE_NAME_MAX);
const body = filledText.max(TEMPLATE_BODY_MAX.mms);
const type = z.enum(TEMPLATE_TYPES);
const subject = lineText
  .trim()
  .max(TEMPLATE_SUBJECT_MAX)
  .nullable()
  .transform((given) => (given === null || isBlank(given) ? null : given));
const byId = z.strictObject({ id: pathId('tpl') });

const ID = ['The id.', exampleId('tpl')] as const;
const NAME = ['The name.', 'Przypomnienie'] as const;
const TYPE = ['What it is for: the kind of message.', 'sms'] as const;
const BODY = [
  'Text with `{{key}}` placeholders; a SMIL document for `mms`.',
  'Dzień dobry {{imie}}!',
] as const;
const SUBJECT = ['Of an MMS.', null] as const;

const templateSchema = z
  .strictObject({
    id: documented(z.string(), ...ID),
    name: documented(z.string(), ...NAME),
    type: documented(type, ...TYPE),
    body: documented(z.string(), ...BODY),
    subject: documented(z.string().nullable(), ...SUBJECT),
    placeholders: documented(z.array(z.string()), 'The names of the placeholders in `body`, in lower case.', [
      'imie',
    ]),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Template', description: 'A text with placeholders.' });

/** GET /v1/templates (v2.3.0, Templates), in the order of the Polish alphabet. */
export const listTemplates = endpoint({
  method: 'GET',
  path: '/v1/templates',
  scope: 'read',
  id: 'listTemplates',
  summary: 'Lists the message templates by name.',
  description: 'All templates, sorted by name.',
  responses: { 200: z.strictObject({ data: z.array(templateSchema).describe('The page.') }) },
  async handle({ services, caller }) {
    const templates = await readTemplates(services.sql, caller.accountId);
    return { status: 200, body: { data: await mapInChunks(templates, templateRecord) } };
  },
});

export const createTemplate = endpoint({
  method: 'POST',
  path: '/v1/templates',
  scope: 'manage',
  id: 'createTemplate',
  summary: 'Creates a message template.',
  description: 'Keeps a text with `{{key}}` placeholders. Keys are letters, digits and underscores.',
  body: z.strictObject({
    name: documented(name, ...NAME),
    body: documented(body, ...BODY),
    type: documented(omissibleWithDefault(type, 'sms'), 'What it is for; `sms` by default.', 'sms'),
    subject: documented(subject.default(null), ...SUBJECT),
  }),
  example: { name: 'Przypomnienie', body: 'Dzień dobry {{imie}}, termin: {{termin}}.' },
  bodyLimit: REQUEST_LIMIT,
  responses: { 201: templateSchema },
  async handle(call) {
    const template = await operations.createTemplate({ ...call, input: call.body });
    return { status: 201, body: templateRecord(template) };
  },
});

export const getTemplate = endpoint({
  method: 'GET',
  path: '/v1/templates/:id',
  scope: 'read',
  id: 'getTemplate',
  summary: 'Shows one message template.',
  description: 'One template.',
  params: byId,
  responses: { 200: templateSchema },
  async handle({ services, caller, params }) {
    const template = await readTemplate(services.sql, caller.accountId, params.id);
    if (template === null) throw new Refused({ reason: 'template_unknown' });
    return { status: 200, body: templateRecord(template) };
  },
});

/** PATCH /v1/templates/{id}: the result must satisfy the rules of POST. */
export const changeTemplate = endpoint({
  method: 'PATCH',
  path: '/v1/templates/:id',
  scope: 'manage',
  id: 'changeTemplate',
  summary: 'Changes a message template.',
  description: 'Changes the fields given, at least one.',
  params: z.strictObject({ id: documented(pathId('tpl'), ...ID) }),
  body: z
    .strictObject({
      name: documented(omissible(name), ...NAME),
      body: documented(omissible(body), ...BODY),
      type: documented(omissible(type), ...TYPE),
      subject: documented(subject.optional(), ...SUBJECT),
    })
    .meta({ minProperties: 1 }),
  example: { name: 'Przypomnienie o wizycie' },
  bodyLimit: REQUEST_LIMIT,
  responses: { 200: templateSchema },
  async handle(call) {
    const input = { id: call.params.id, patch: call.body };
    const template = await operations.changeTemplate({ ...call, input });
    return { status: 200, body: templateRecord(template) };
  },
});

export const deleteTemplate = endpoint({
  method: 'DELETE',
  path: '/v1/templates/:id',
  scope: 'manage',
  id: 'deleteTemplate',
  summary: 'Deletes a message template; messages sent with it remain.',
  description: 'Removes a template; messages already sent remain.',
  params: byId,
  responses: { 200: deletedSchema },
  async handle(call) {
    await operations.deleteTemplate({ ...call, input: call.params });
    return { status: 200, body: { deleted: call.params.id } };
  },
});

function templateRecord({ id, name: title, type: kind, body: text, ...row }: TemplateRow) {
  return {
    id,
    name: title,
    type: kind,
    body: text,
    subject: row.subject,
    placeholders: placeholderNames(text),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
