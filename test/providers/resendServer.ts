import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import addressparser from 'nodemailer/lib/addressparser/index.js';

/** A request as it came. */
interface ResendCall {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

/** An e-mail that the provider took. */
export interface SentEmail {
  id: string;
  /** Null: its client named none. */
  key: string | null;
  /** As it came. */
  raw: Buffer;
  body: EmailFields;
  from: { address: string; name: string };
  files: { filename: string; contentType: string | null; contentId: string | null; content: Buffer }[];
}

interface EmailFields {
  from: string;
  to: string | string[];
  cc?: string | string[];
  bcc?: string | string[];
  reply_to?: string;
  subject: string;
  html?: string;
  text?: string;
  headers?: Record<string, string>;
  tags?: { name: string; value: string }[];
  attachments?: { filename: string; content: string; content_type?: string; content_id?: string }[];
}

/** A domain in the provider's list. */
export interface ListedDomain {
  id: string;
  name: string;
  status: string;
  region: string;
  created_at: string;
  records: ListedRecord[];
}

interface ListedRecord {
  record: string;
  name: string;
  type: string;
  ttl: string;
  status: string;
  value: string;
  priority?: number;
}

/** An answer; `retryAfter` and others as headers. */
export interface Answer {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

/**
 * What is done with a request instead of the usual; `take` reads it, does what the provider would have done, and returns its answer.
 * The e-mail of a request is under way, and not taken yet, until `worked` resolves.
 */
export type Mischief = (
  response: ServerResponse,
  take: (worked?: Promise<unknown>) => Promise<Answer>,
  asked: Asked,
) => unknown;

/** A request that mischief is done to. */
export interface Asked extends ResendCall {
  /** Reads it; null where it is no JSON, or was cut off. */
  fields(): Promise<EmailFields | null>;
}

/** A local server that speaks as Resend does. */
export interface ResendServer {
  url: string;
  apiKey: string;
  /** A key that may only send. */
  sendingKey: string;
  webhookSecret: string;
  calls: ResendCall[];
  sent: SentEmail[];
  domains: ListedDomain[];
  /** Addresses that it sends to no more. */
  suppressions: Set<string>;
  /** It looks at the sender's domain before it looks whether it took the e-mail already. */
  checksDomainFirst: boolean;
  /** Whether a record is found in DNS when it looks. */
  inDns: (record: ListedRecord) => boolean;
  /** Does this to the next e-mails instead of answering them. */
  next(...mischiefs: Mischief[]): void;
  /** Does this to all requests; null: answers as usual. */
  always(mischief: Mischief | null): void;
  /** How it calls a webhook about an e-mail that it took. */
  event(sent: SentEmail, type: string, data?: Record<string, unknown>, at?: Date): SignedCall;
  close(): Promise<void>;
}

/** A call to a webhook. */
export interface SignedCall {
  headers: Record<string, string>;
  body: string;
}

const FIELDS_MAX = 50;
const FILES_BYTES_MAX = 40_000_000;
const TAG = /^[A-Za-z0-9_-]{1,256}$/;
const PAGE = 20;

/** An error as the provider words it. */
export const errorAnswer = (status: number, name: string, message = name): Answer => ({
  status,
  json: { statusCode: status, name, message },
});

/** Starts the server on a free port of this machine. */
export async function startResend(): Promise<ResendServer> {
  const mischiefs: Mischief[] = [];
  let everyTime: Mischief | null = null;
  const keys = new Map<string, { hash: string; answer: Answer | null }>();

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://provider.invalid').pathname;
    const { method = '', headers } = request;
    const called = { method, path, headers };
    resend.calls.push(called);
    let read: Promise<Buffer> | null = null;
    const body = () => (read ??= bytesOf(request));
    const take = async (worked?: Promise<unknown>) => answerTo(resend, keys, request, await body(), worked);
    const mischief = everyTime ?? (path === '/emails' ? mischiefs.shift() : undefined);
    if (mischief === undefined) void take().then((answer) => write(response, answer));
    else void mischief(response, take, { ...called, fields: async () => fieldsIn(await body()) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const resend: ResendServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: `re_${randomBytes(16).toString('hex')}`,
    sendingKey: `re_${randomBytes(16).toString('hex')}`,
    webhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
    calls: [],
    sent: [],
    domains: [],
    suppressions: new Set(),
    checksDomainFirst: false,
    inDns: () => true,
    next: (...more) => void mischiefs.push(...more),
    always: (mischief) => (everyTime = mischief),
    event: (sent, type, data = {}, at = new Date()) => eventOf(resend.webhookSecret, sent, type, data, at),
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return resend;
}

/** Answers with JSON. */
export function write(response: ServerResponse, { status, json, headers = {} }: Answer): void {
  const limits = { 'ratelimit-limit': '5', 'ratelimit-remaining': '4', 'ratelimit-reset': '1' };
  response
    .writeHead(status, { 'content-type': 'application/json', ...limits, ...headers })
    .end(JSON.stringify(json));
}

async function answerTo(
  resend: ResendServer,
  keys: Map<string, { hash: string; answer: Answer | null }>,
  request: IncomingMessage,
  raw: Buffer,
  worked: Promise<unknown> = new Promise((resolve) => setImmediate(resolve)),
): Promise<Answer> {
  const path = new URL(request.url ?? '/', 'http://provider.invalid').pathname;
  // Of what is cut off it has nothing.
  if (!request.complete) return errorAnswer(400, 'validation_error', 'The request body is not JSON');
  const refused = refusalOf(resend, request, path);
  if (refused !== null) return refused;
  const route = `${request.method} ${path}`;
  if (route === 'POST /emails') return takeOnce(resend, keys, request, raw, worked);
  if (route === 'GET /domains') return listDomains(resend, request.url ?? '');
  if (route === 'POST /domains') return createDomain(resend, raw);
  const suppressed = /^DELETE \/suppressions\/([^/]+)$/.exec(route)?.[1];
  if (suppressed !== undefined) return removeSuppression(resend, decodeURIComponent(suppressed));
  const [, id = '', verb] = /^\/domains\/([^/]+)(\/verify)?$/.exec(path) ?? [];
  const domain = resend.domains.find((one) => one.id === id);
  if (id === '') return errorAnswer(404, 'not_found', 'The requested endpoint does not exist.');
  if (domain === undefined) return errorAnswer(404, 'not_found', 'Domain not found');
  if (request.method === 'GET') return { status: 200, json: { object: 'domain', ...domain } };
  if (request.method === 'DELETE') {
    resend.domains.splice(resend.domains.indexOf(domain), 1);
    return { status: 200, json: { object: 'domain', id, deleted: true } };
  }
  if (request.method !== 'POST' || verb === undefined) return errorAnswer(405, 'method_not_allowed');
  verify(resend, domain);
  return { status: 200, json: { object: 'domain', id } };
}

function removeSuppression({ suppressions }: ResendServer, address: string): Answer {
  if (!suppressions.delete(address)) return errorAnswer(404, 'not_found', 'Suppression not found');
  return { status: 200, json: { object: 'suppression', id: randomUUID(), deleted: true } };
}

function refusalOf(resend: ResendServer, { headers, method }: IncomingMessage, path: string): Answer | null {
  if (headers['user-agent'] === undefined) return { status: 403, json: 'error code: 1010' };
  const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (key === undefined) return errorAnswer(401, 'missing_api_key', 'Missing API Key');
  if (key === resend.sendingKey && !(method === 'POST' && path === '/emails')) {
    return errorAnswer(401, 'restricted_api_key', 'This API key is restricted to only send emails');
  }
  if (key === resend.apiKey || key === resend.sendingKey) return null;
  // Its documentation has 403 and `invalid_api_key`.
  return errorAnswer(400, 'validation_error', 'API key is invalid');
}

async function takeOnce(
  resend: ResendServer,
  keys: Map<string, { hash: string; answer: Answer | null }>,
  { headers }: IncomingMessage,
  raw: Buffer,
  worked: Promise<unknown>,
): Promise<Answer> {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return takeEmail(resend, null, raw);
  if (key === '' || key.length > 256) return errorAnswer(400, 'invalid_idempotency_key');
  const sender = resend.checksDomainFirst ? senderOf(fieldsIn(raw)?.from ?? '') : null;
  const stranger = sender === null ? null : domainProblem(resend, sender);
  if (stranger !== null) return stranger;
  const hash = createHash('sha256').update(raw).digest('hex');
  const before = keys.get(key);
  if (before !== undefined && before.hash !== hash) return errorAnswer(409, 'invalid_idempotent_request');
  if (before !== undefined) return before.answer ?? errorAnswer(409, 'concurrent_idempotent_requests');
  const kept: { hash: string; answer: Answer | null } = { hash, answer: null };
  keys.set(key, kept);
  await worked;
  const answer = takeEmail(resend, key, raw);
  // Only what was sent is kept.
  if (answer.status === 200) kept.answer = answer;
  else keys.delete(key);
  return answer;
}

function takeEmail(resend: ResendServer, key: string | null, raw: Buffer): Answer {
  const body = fieldsIn(raw);
  if (body === null) return errorAnswer(400, 'validation_error', 'The request body is not JSON');
  const problem = problemOf(resend, body);
  if (problem !== null) return problem;
  const id = randomUUID();
  const files = (body.attachments ?? []).map((file) => ({
    filename: file.filename,
    contentType: file.content_type ?? null,
    contentId: file.content_id ?? null,
    content: Buffer.from(file.content, 'base64'),
  }));
  resend.sent.push({ id, key, raw, body, from: senderOf(body.from)!, files });
  return { status: 200, json: { id } };
}

const fieldsIn = (raw: Buffer): EmailFields | null => parsed(raw) as EmailFields | null;

function problemOf(resend: ResendServer, body: EmailFields): Answer | null {
  const invalid = (field: string) =>
    errorAnswer(422, 'validation_error', `Invalid \`${field}\` field. The email address needs to be valid.`);
  for (const field of ['from', 'to', 'subject'] as const) {
    if (body[field] === undefined)
      return errorAnswer(422, 'missing_required_field', `Missing \`${field}\` field.`);
  }
  const sender = senderOf(body.from);
  if (sender === null) return invalid('from');
  for (const field of ['to', 'cc', 'bcc', 'reply_to'] as const) {
    const addresses = [body[field] ?? []].flat();
    if (addresses.length > FIELDS_MAX || addresses.some((one) => !isAddress(one))) return invalid(field);
  }
  if ([body.to].flat().length === 0) return invalid('to');
  if (body.html === undefined && body.text === undefined) {
    return errorAnswer(422, 'validation_error', 'Missing `html` or `text` field.');
  }
  if (!(body.tags ?? []).every(({ name, value }) => TAG.test(name) && TAG.test(value))) {
    return errorAnswer(422, 'validation_error', 'Tags should only contain ASCII letters, numbers, _ or -.');
  }
  const files = body.attachments ?? [];
  // Base64 in one piece: padding in the middle is none.
  const whole = files.every(({ content }) => Buffer.from(content, 'base64').toString('base64') === content);
  if (!whole)
    return errorAnswer(422, 'invalid_attachment', 'Attachment must have either a `content` or `path`.');
  if (files.reduce((sum, { content }) => sum + content.length, 0) > FILES_BYTES_MAX) {
    return errorAnswer(422, 'invalid_attachment', 'Attachments are too large.');
  }
  return domainProblem(resend, sender);
}

function domainProblem(resend: ResendServer, sender: { address: string }): Answer | null {
  const domain = sender.address.split('@')[1];
  const known = resend.domains.some(({ name, status }) => name === domain && status === 'verified');
  return known
    ? null
    : errorAnswer(
        403,
        'validation_error',
        `The ${domain} domain is not verified. Please, add and verify your domain.`,
      );
}

function senderOf(from: string): { address: string; name: string } | null {
  const [sender, ...more] = addressparser(from, { flatten: true });
  return sender !== undefined && more.length === 0 && isAddress(sender.address) ? sender : null;
}

const isAddress = (text: unknown): boolean =>
  typeof text === 'string' && /^[^\s@<>,]+@[^\s@<>,]+$/.test(text);

/** Its records are named for the zone: the last two labels. */
function createDomain(resend: ResendServer, raw: Buffer): Answer {
  const { name, region = 'us-east-1' } = (parsed(raw) ?? {}) as { name?: string; region?: string };
  if (name === undefined) return errorAnswer(422, 'missing_required_field', 'Missing `name` field.');
  if (resend.domains.some((one) => one.name === name)) {
    return errorAnswer(403, 'validation_error', `The ${name} domain has been registered already.`);
  }
  const under = name.split('.').slice(0, -2).join('.');
  const suffix = under === '' ? '' : `.${under}`;
  const record = (
    kind: string,
    type: string,
    label: string,
    value: string,
    priority?: number,
  ): ListedRecord => ({
    ...{ record: kind, name: `${label}${suffix}`, type, ttl: 'Auto', status: 'not_started', value },
    ...(priority === undefined ? {} : { priority }),
  });
  const domain: ListedDomain = {
    ...{ id: randomUUID(), name, status: 'not_started', region, created_at: '2026-11-24 21:30:00.123456+00' },
    records: [
      record('SPF', 'MX', 'send', `feedback-smtp.${region}.amazonses.com`, 10),
      record('SPF', 'TXT', 'send', '"v=spf1 include:amazonses.com ~all"'),
      record('DKIM', 'TXT', 'resend._domainkey', 'p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ'),
    ],
  };
  resend.domains.push(domain);
  return { status: 201, json: domain };
}

function listDomains({ domains }: ResendServer, url: string): Answer {
  const query = new URL(url, 'http://provider.invalid').searchParams;
  const limit = Number(query.get('limit') ?? PAGE);
  if (!(limit >= 1 && limit <= 100)) return errorAnswer(422, 'validation_error', 'Invalid `limit`.');
  const after = query.get('after');
  const from = after === null ? 0 : domains.findIndex(({ id }) => id === after) + 1;
  const data = domains.slice(from, from + limit).map(({ records: _, ...domain }) => domain);
  return { status: 200, json: { object: 'list', has_more: from + limit < domains.length, data } };
}

/** It looks at once; the domain is pending where anything is missing. */
function verify(resend: ResendServer, domain: ListedDomain): void {
  for (const record of domain.records) record.status = resend.inDns(record) ? 'verified' : 'pending';
  domain.status = domain.records.every(({ status }) => status === 'verified') ? 'verified' : 'pending';
}

function eventOf(secret: string, sent: SentEmail, type: string, data: object, at: Date): SignedCall {
  const { id: email_id, body } = sent;
  const tags = Object.fromEntries((body.tags ?? []).map(({ name, value }) => [name, value]));
  const event = {
    type,
    created_at: at.toISOString(),
    data: {
      ...{ email_id, message_id: `<${email_id}@eu-west-1.amazonses.com>`, created_at: at.toISOString() },
      ...{ from: body.from, to: [body.to].flat(), subject: body.subject, tags },
      ...data,
    },
  };
  return signCall(secret, JSON.stringify(event), at);
}

/** Signs as Svix does, without any of the libraries that check it. */
export function signCall(
  secret: string,
  body: string,
  at = new Date(),
  id = `msg_${randomUUID()}`,
): SignedCall {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    headers: { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': `v1,${signature}` },
    body,
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // One that is cut off is never asked for an answer.
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return Buffer.alloc(0);
  }
  return Buffer.concat(chunks);
}

function parsed(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return null;
  }
}
