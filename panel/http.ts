import type { IncomingHttpHeaders } from 'node:http';
import { clientAddress } from '../api/http/admission.ts';
import { readBytes } from '../api/http/body.ts';
import { HttpRefused } from '../api/http/refusals.ts';
import { type Context, writeCsv } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import { limitedNetwork } from '../domain/addresses.ts';
import { storable } from '../domain/ids.ts';
import { readCookie } from './cookies.ts';
import { type Language, LANGUAGES, preferredLanguage } from './language.ts';
import type { Answer, FileAnswer, ShownAnswer, Visit } from './route.ts';

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const FIELDS_MAX = 50;
const UNKNOWN_NETWORK = '0.0.0.0/32';
const AMPERSAND = '&'.charCodeAt(0);

/** What a request of a page says, before anybody is known. */
export function openVisit(services: Services, context: Context, receivedAt: number): Visit {
  const { headers } = context;
  const address = clientAddress(context);
  return {
    services,
    method: context.method,
    path: context.path,
    params: Object.fromEntries(storableFields(Object.entries(context.params as Record<string, string>))),
    query: new URLSearchParams(storableFields([...new URLSearchParams(context.querystring)])),
    form: new Map(),
    headers,
    address,
    network: limitedNetwork(address) ?? UNKNOWN_NETWORK,
    requestId: context.state.requestId,
    receivedAt,
    language: languageOf(headers, services.panelUrl),
    session: null,
    readOnly: false,
    acquireHeavySlot: () => undefined,
    readUpload: () => Promise.resolve(null),
  };
}

function storableFields(fields: [string, string][]): [string, string][] {
  return fields.map(([name, value]) => [name, storable(value)]);
}

function languageOf(headers: IncomingHttpHeaders, url: string): Language {
  const chosen = readCookie(headers, url, 'language');
  return LANGUAGES.find((language) => language === chosen) ?? preferredLanguage(headers);
}

/** The fields of a form, each once. @throws HttpRefused */
export async function readForm(
  { req }: Context,
  limitBytes: number,
  fieldsMax = FIELDS_MAX,
): Promise<ReadonlyMap<string, string>> {
  if (!FORM_TYPE.test(req.headers['content-type'] ?? ''))
    throw new HttpRefused({
      reason: 'content_type_unsupported',
      types: ['application/x-www-form-urlencoded'],
    });
  const bytes = await readBytes(req, { limitBytes });
  // Counted before they are made.
  if (bytes.filter((byte) => byte === AMPERSAND).length >= fieldsMax)
    throw new HttpRefused({ reason: 'body_too_many_keys', limit: fieldsMax });
  const fields = new URLSearchParams(bytes.toString());
  const form = new Map<string, string>();
  for (const [name, value] of fields) {
    if (form.has(name)) throw new HttpRefused({ reason: 'field_repeated', field: name });
    form.set(name, storable(value));
  }
  return form;
}

/** A page as it is written. */
export type Rendered = { status: number; headers: Record<string, string>; body: string };

/** Writes an answer; `render` makes a page of a view. */
export function writeAnswer(
  context: Context,
  answered: Answer,
  render: (shown: ShownAnswer) => Rendered,
): void {
  const { cookies = [] } = answered;
  if (cookies.length > 0) context.set('Set-Cookie', [...cookies]);
  if ('to' in answered) return redirect(context, answered.to);
  if ('csv' in answered) return writeCsv(context, answered);
  if ('bytes' in answered) return writeFile(context, answered);
  const { status, headers, body } = render(answered);
  context.status = status;
  context.set(headers);
  context.body = body;
}

function writeFile(context: Context, { filename, bytes }: FileAnswer): void {
  context.status = 200;
  // With the type of the name.
  context.attachment(filename);
  context.body = bytes;
}

function redirect(context: Context, to: string): void {
  // A list that follows by itself, of who is signed out meanwhile: the whole page has to go there.
  const isPart = context.headers['hx-request'] === 'true';
  if (isPart) context.set('HX-Redirect', to);
  else context.set('Location', to);
  // GET whatever the method was.
  context.status = isPart ? 200 : 303;
  context.body = '';
}
