import type { CallbackFields } from '../../providers/smsapi/callbacks.ts';
import { readBytes } from '../http/body.ts';
import type { Visit } from '../http/page.ts';

// A hundred reports with their dozen fields of 30 characters are 36 kB; the longest reply is far shorter.
const BODY_BYTES = 64 * 1024;
const FIELDS_MAX = 100;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^multipart\/form-data\s*;/i;

/**
 * The fields of a callback: of the query for GET, of the form for POST.
 * @returns null when there is no form to read, or too much of it, or one field came twice
 * @throws HttpRefused (too large, cut off)
 */
export async function readFields({ method, query, headers, request }: Visit): Promise<CallbackFields | null> {
  if (method !== 'POST') return fieldsOf(new URLSearchParams(query));
  const type = headers['content-type'] ?? '';
  const isForm = FORM.test(type);
  if (!isForm && !MULTIPART.test(type)) return null;
  const bytes = await readBytes(request, BODY_BYTES);
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
