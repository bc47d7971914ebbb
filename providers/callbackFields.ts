import type { CallbackCall } from './callbacks.ts';

const FIELDS_MAX = 100;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^multipart\/form-data\s*;/i;

/** The fields of a callback; each came exactly once. */
export type CallbackFields = ReadonlyMap<string, string>;

/**
 * The fields of a callback: of the query for GET, of the form for POST.
 * @returns null when there is no form to read, or too much of it, or one field came twice
 * @throws what reading the body throws
 */
export async function readFields(call: CallbackCall): Promise<CallbackFields | null> {
  if (call.method !== 'POST') return fieldsOf(new URLSearchParams(call.query));
  const type = call.headers['content-type'] ?? '';
  const isForm = FORM.test(type);
  if (!isForm && !MULTIPART.test(type)) return null;
  const bytes = await call.body();
  if (isForm) return fieldsOf(new URLSearchParams(bytes.toString('utf8')));
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    return fieldsOf(form);
  } catch {
    return null;
  }
}

function fieldsOf(form: Iterable<[string, unknown]>): CallbackFields | null {
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (typeof value !== 'string' || fields.has(name) || fields.size >= FIELDS_MAX) return null;
    fields.set(name, value);
  }
  return fields;
}
