import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { splitIntoParts } from '../../domain/sms.ts';

/** A request as it came. */
interface ProviderCall {
  method: string;
  path: string;
  token: string | null;
  form: Record<string, string>;
}

/** A message that the provider took. */
export interface TakenSms {
  /** `/sms.do`, `/mms.do` or `/vms.do`. */
  path: string;
  id: string;
  idx: string | null;
  to: string;
  from: string | null;
  /** What an SMS says, a call reads aloud, or the SMIL of an MMS. */
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
  /** What the account may send beside SMS. */
  channels: ('mms' | 'vms')[];
  /** The time in Poland, for the hours of calls; noon unless a test sets it. */
  minuteOfDay: () => number;
  /** Does this to the next requests for messages instead of answering them. */
  next(...mischiefs: Mischief[]): void;
  /** Does this to all requests, the profile too; null: answers as usual. */
  always(mischief: Mischief | null): void;
  /** What the provider says to each look-up: its own answer after `hlr.do`. */
  lookupAnswer: (id: string, number: string) => unknown;
  close(): Promise<void>;
}

const IDX = /^[0-9a-z]{1,255}$/i;
const SUBMIT = /^\/(sms|mms|vms)\.do$/;
const MMS_MAX_BYTES = 300_000;
const SUBJECT_MAX = 30;
const VOICES = ['agnieszka', 'ewa', 'jacek', 'jan', 'maja'];
const DAY_BEGINS = 8 * 60;
const DAY_ENDS = 22 * 60;
const MIN_VALIDITY_S = 15 * 60;
const MAX_VALIDITY_S = 72 * 3600;

/** Starts the server on a free port of this machine. */
export async function startProvider(): Promise<Provider> {
  const token = randomBytes(20).toString('base64url');
  const mischiefs: Mischief[] = [];
  let everyTime: Mischief | null = null;

  const server = createServer((request, response) => {
    void readForm(request).then((form) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider.invalid');
      const call: ProviderCall = {
        method: request.method ?? '',
        path: pathname,
        token: /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null,
        form: { ...Object.fromEntries(searchParams), ...form },
      };
      provider.calls.push(call);
      const take = () => answerTo(provider, call);
      const mischief = everyTime ?? (SUBMIT.test(call.path) ? mischiefs.shift() : undefined);
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
    channels: ['mms', 'vms'],
    minuteOfDay: () => 12 * 60,
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
    case '/mms.do':
    case '/vms.do':
      return take(provider, path, form);
    case '/hlr.do':
    case '/hlrsync.do':
      return provider.lookupAnswer(randomBytes(12).toString('hex'), form['number'] ?? '');
    case '/profile':
      return { name: 'Firma', username: 'firma', email: 'it@firma.example', points: provider.points };
    default:
      return { error: 8, message: 'Error in request' };
  }
}

function take(provider: Provider, path: string, form: Record<string, string>): unknown {
  const code = problemOf(provider, form) ?? problemOfChannel[path]!(form, provider);
  if (code !== null) return { error: code, message: `error ${code}`, invalid_numbers: null };
  const id = randomBytes(12).toString('hex').toUpperCase();
  const { to = '', from = null, idx = null, notify_url = null } = form;
  const text = form['message'] ?? form['tts'] ?? form['smil'] ?? '';
  provider.taken.push({ path, id, idx, to, from, text, notifyUrl: notify_url, form });
  const parts = path === '/sms.do' ? { parts: splitIntoParts(text).parts.length } : {};
  return {
    count: 1,
    list: [
      {
        id,
        points: 0.16 * (parts.parts ?? 1),
        number: to,
        date_sent: Math.floor(Date.now() / 1000),
        submitted_number: to,
        status: 'QUEUE',
        error: null,
        idx,
        ...parts,
      },
    ],
    ...(parts.parts === undefined ? {} : { message: text, length: text.length, ...parts }),
  };
}

/** What the provider checks of every message (https://www.smsapi.pl/docs/#19-kody-bledow). */
function problemOf(provider: Provider, form: Record<string, string>): number | null {
  const { to = '', idx, check_idx } = form;
  if (form['format'] !== 'json') return 8;
  if (!/^[1-9][0-9]{8,14}$/.test(to)) return 13;
  if (provider.points <= 0) return 103;
  if (idx !== undefined && !IDX.test(idx)) return 20;
  const used = provider.taken.some((sms) => sms.idx?.toLowerCase() === idx?.toLowerCase());
  if (idx !== undefined && check_idx === '1' && used) return 53;
  return null;
}

type Check = (form: Record<string, string>, provider: Provider) => number | null;

const problemOfChannel: Readonly<Record<string, Check>> = {
  '/sms.do'({ message = '', encoding, flash, max_parts, expiration_date }) {
    if (encoding !== 'utf-8') return 8;
    if (message === '') return 11;
    const { encoding: letters, parts } = splitIntoParts(message);
    if (isOn(flash) && letters !== 'gsm7') return 17;
    if (parts.length > Number(max_parts ?? 10)) return 12;
    const validity = Number(expiration_date ?? NaN) - Date.now() / 1000;
    const taken = validity > MIN_VALIDITY_S && validity < MAX_VALIDITY_S;
    return expiration_date !== undefined && !taken ? 56 : null;
  },
  '/mms.do'({ to = '', subject = '', smil = '' }, { channels }) {
    if (!channels.includes('mms')) return 110;
    if (!to.startsWith('48')) return 32;
    if (Buffer.byteLength(smil) > MMS_MAX_BYTES) return 21;
    if (!/^\s*<smil\b[\s\S]*<\/smil>\s*$/.test(smil)) return 22;
    if (subject === '') return 11;
    return subject.length > SUBJECT_MAX ? 26 : null;
  },
  '/vms.do'({ to = '', tts = '', tts_lector = 'ewa', try: tries = '1', interval = '300' }, provider) {
    if (!provider.channels.includes('vms')) return 110;
    if (!to.startsWith('48')) return 32;
    if (tts === '') return 11;
    if (!VOICES.includes(tts_lector)) return 35;
    if (!/^[1-6]$/.test(tries) || Number(interval) < 300 || Number(interval) > 7200) return 8;
    const lastCall = provider.minuteOfDay() + ((Number(tries) - 1) * Number(interval)) / 60;
    return provider.minuteOfDay() < DAY_BEGINS || lastCall >= DAY_ENDS ? 51 : null;
  },
};

// The provider's own clients send 1 in a form, and true in JSON.
function isOn(flag: string | undefined): boolean {
  return flag === '1' || flag === 'true';
}

/** A form, or JSON, as the provider's JavaScript client sends it. */
async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  if (body === '' || !(request.headers['content-type'] ?? '').includes('json')) {
    return Object.fromEntries(new URLSearchParams(body));
  }
  const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}
