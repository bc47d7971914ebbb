import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { splitIntoParts } from '../../domain/parts.ts';

/** A request as it came. */
export interface ProviderCall {
  method: string;
  path: string;
  token: string | null;
  form: Record<string, string>;
}

/** A message that the provider took. */
export interface TakenSms {
  id: string;
  idx: string | null;
  to: string;
  from: string | null;
  text: string;
  notifyUrl: string | null;
  form: Record<string, string>;
}

/** What is done instead of the usual answer; `take` does what the provider would have done, and returns its answer. */
export type Mischief = (response: ServerResponse, take: () => unknown, call: ProviderCall) => void;

/** A local server that speaks as SMSAPI.pl does. */
export interface Provider {
  url: string;
  token: string;
  calls: ProviderCall[];
  taken: TakenSms[];
  /** Points on the account. */
  points: number;
  /** Does this to the next requests for messages instead of answering them. */
  next(...mischiefs: Mischief[]): void;
  /** Does this to all requests, the profile too; null: answers as usual. */
  always(mischief: Mischief | null): void;
  /** What the provider says to each look-up: its own answer after `hlr.do`. */
  lookupAnswer: (id: string, number: string) => unknown;
  close(): Promise<void>;
}

const IDX = /^[0-9a-z]{1,255}$/i;
const MIN_VALIDITY_S = 15 * 60;
const MAX_VALIDITY_S = 72 * 3600;

/** Starts the server on a free port of this machine. */
export async function startProvider(): Promise<Provider> {
  const token = randomBytes(20).toString('base64url');
  const mischiefs: Mischief[] = [];
  let everyTime: Mischief | null = null;

  const server = createServer((request, response) => {
    void readForm(request).then((form) => {
      const call: ProviderCall = {
        method: request.method ?? '',
        path: request.url ?? '',
        token: /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null,
        form,
      };
      provider.calls.push(call);
      const take = () => answerTo(provider, call);
      const mischief = everyTime ?? (call.path === '/sms.do' ? mischiefs.shift() : undefined);
      if (mischief === undefined) json(response, 200, take());
      else mischief(response, take, call);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const provider: Provider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    calls: [],
    taken: [],
    points: 1000,
    next: (...more) => void mischiefs.push(...more),
    always: (mischief) => (everyTime = mischief),
    lookupAnswer: (id, number) => ({ status: 'OK', number, id, price: 0.04 }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** The answer with an error code, as the provider gives it. */
export const errorAnswer =
  (error: number, status = 200): Mischief =>
  (response) =>
    json(response, status, { error, message: `error ${error}`, invalid_numbers: null });

function answerTo(provider: Provider, { path, token, form }: ProviderCall): unknown {
  if (token !== provider.token) return { error: 101, message: 'Authorization failed' };
  switch (path) {
    case '/sms.do':
      return takeSms(provider, form);
    case '/hlr.do':
    case '/hlrsync.do':
      return provider.lookupAnswer(randomBytes(12).toString('hex'), form['number'] ?? '');
    case '/profile':
      return { name: 'Firma', username: 'firma', email: 'it@firma.example', points: provider.points };
    default:
      return { error: 8, message: 'Error in request' };
  }
}

function takeSms(provider: Provider, form: Record<string, string>): unknown {
  const code = problemOf(provider, form);
  if (code !== null) return { error: code, message: `error ${code}`, invalid_numbers: null };
  const id = randomBytes(12).toString('hex').toUpperCase();
  const { to = '', message = '', from = null, idx = null, notify_url = null } = form;
  provider.taken.push({ id, idx, to, from, text: message, notifyUrl: notify_url, form });
  const { parts } = splitIntoParts(message);
  return {
    count: 1,
    list: [
      {
        id,
        points: 0.16 * parts.length,
        number: to,
        date_sent: Math.floor(Date.now() / 1000),
        submitted_number: to,
        status: 'QUEUE',
        error: null,
        idx,
        parts: parts.length,
      },
    ],
    message,
    length: message.length,
    parts: parts.length,
  };
}

function problemOf(provider: Provider, form: Record<string, string>): number | null {
  const { to = '', message = '', idx, check_idx, expiration_date, max_parts } = form;
  if (form['format'] !== 'json' || form['encoding'] !== 'utf-8') return 8;
  if (message === '') return 11;
  if (form['flash'] === '1' && splitIntoParts(message).encoding !== 'gsm7') return 17;
  if (splitIntoParts(message).parts.length > Number(max_parts ?? 10)) return 12;
  if (!/^[1-9][0-9]{8,14}$/.test(to)) return 13;
  if (provider.points <= 0) return 103;
  if (idx !== undefined && !IDX.test(idx)) return 20;
  const used = provider.taken.some((sms) => sms.idx?.toLowerCase() === idx?.toLowerCase());
  if (idx !== undefined && check_idx === '1' && used) return 53;
  const validity = Number(expiration_date ?? NaN) - Date.now() / 1000;
  if (expiration_date !== undefined && !(validity > MIN_VALIDITY_S && validity < MAX_VALIDITY_S)) return 56;
  return null;
}

async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}
