import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { endpoints } from '../../api/endpoints.ts';
import { describeInterface } from '../../api/openapi/document.ts';
import type { Header, MediaType, Operation, PathItem, Response } from '../../api/openapi/schemas.ts';

/** An answer as it came over HTTP. */
export interface Answered {
  method: string;
  /** Path, with query or without. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

// Refused before any operation is looked for: no path of its own can declare them (see the document's `info`).
const BEFORE_OPERATIONS = [404, 405, 408, 417, 431];

const document = describeInterface(endpoints);
const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
addFormats.default(ajv);
for (const own of ['phone-number', 'recipient', 'csv', 'message-cursor', 'inbound-cursor', 'email-cursor'])
  ajv.addFormat(own, true);
ajv.addSchema({ ...document, $id: 'openapi' });
const validators = new Map<string, ValidateFunction>();

/**
 * Compares an answer with the OpenAPI document: status, headers, content type and body have to be what the operation
 * declares; where there is no operation, a refusal in the error envelope.
 * @returns what is wrong, null when nothing is
 */
export function contractBreach({ method, path, status, headers, text }: Answered): string | null {
  if (method === 'OPTIONS') return status === 204 ? null : `OPTIONS answered ${status}`;
  const found = operationOf(method, path.split('?')[0]!);
  const where = `${method} ${path} ${status}`;
  if (found === null) {
    if (!BEFORE_OPERATIONS.includes(status)) return `${where}: there is no such operation`;
    return text === '' ? null : invalid('#/components/schemas/Error', text, where);
  }
  // A GET that changes something is closed to HEAD, as any method is that a path does not have.
  if (method === 'HEAD' && status === 405) return text === '' ? null : `${where}: a body`;
  const { operation, pointer } = found;
  const declared = operation.responses[status];
  if (declared === undefined) return `${where}: ${operation.operationId} does not declare this status`;
  const response = resolve(declared, `${pointer}/responses/${status}`);
  const missing = missingHeader(response.value, headers);
  if (missing !== null) return `${where}: without the header ${missing}`;
  // An answer to HEAD has no body to look at.
  if (method === 'HEAD') return text === '' ? null : `${where}: a body`;
  return bodyBreach(response, headers.get('content-type'), text, where);
}

/** Compares a webhook's body with the document; returns what is wrong, null when nothing is. */
export function webhookBreach(type: string, body: string): string | null {
  if (!(type in document.webhooks)) return `webhook ${type}: not described`;
  const media = `#/webhooks/${escaped(type)}/post/requestBody/content/application~1json`;
  return invalid(`${media}/schema`, body, `webhook ${type}`);
}

function bodyBreach(
  { value, pointer }: { value: Response; pointer: string },
  contentType: string | null,
  text: string,
  where: string,
): string | null {
  const type = contentType?.split(';')[0]?.trim() ?? '';
  const media: MediaType | undefined = value.content?.[type];
  if (media === undefined) return `${where}: content type "${type}" is not declared`;
  return type === 'application/json'
    ? invalid(`${pointer}/content/${escaped(type)}/schema`, text, where)
    : null;
}

function invalid(pointer: string, text: string, where: string): string | null {
  const known = validators.get(pointer);
  const validate = known ?? ajv.compile({ $ref: `openapi${pointer}` });
  validators.set(pointer, validate);
  if (validate(JSON.parse(text))) return null;
  return `${where}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 1000)}`;
}

function missingHeader({ headers = {} }: Response, given: Headers): string | null {
  const missing = Object.entries(headers).find(([name, header]) => {
    const { required, schema } = headerOf(header);
    const value = given.get(name);
    if (value === null) return required === true;
    return schema?.pattern !== undefined && !new RegExp(schema.pattern).test(value);
  });
  return missing?.[0] ?? null;
}

function headerOf({ $ref, ...own }: Header): Header {
  return $ref === undefined ? own : document.components.headers[$ref.split('/').at(-1)!]!;
}

function resolve(response: Response, pointer: string): { value: Response; pointer: string } {
  if (response.$ref === undefined) return { value: response, pointer };
  return { value: document.components.responses[response.$ref.split('/').at(-1)!]!, pointer: response.$ref };
}

function operationOf(method: string, path: string): { operation: Operation; pointer: string } | null {
  const verb = (method === 'HEAD' ? 'get' : method.toLowerCase()) as keyof PathItem;
  // A path that stands there as it is goes before one with parameters (OpenAPI 3.1, Paths Object).
  const templates = path in document.paths ? [path] : Object.keys(document.paths);
  for (const template of templates) {
    const operation = document.paths[template]![verb];
    if (operation !== undefined && matches(template, path))
      return { operation, pointer: `#/paths/${escaped(template)}/${verb}` };
  }
  return null;
}

function matches(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  // An escape that says nothing names no resource of any operation.
  const readable = (segment: string) =>
    segment !== '' && URL.canParse(`http://x/${segment}`) && decodes(segment);
  return (
    wanted.length === given.length &&
    wanted.every((segment, i) => (segment.startsWith('{') ? readable(given[i]!) : segment === given[i]))
  );
}

function decodes(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}
