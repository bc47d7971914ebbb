import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Endings } from '../support/endings.ts';
import { refusingEvery, startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import type { Chance } from './chance.ts';
import type { Installation } from './installation.ts';

/**
 * The load pays by the first four; `stepping` is for single messages that a test follows step by step, `probing` for
 * requests that are not repeated.
 */
export type Payer = 'rich' | 'telling' | 'poor' | 'trial' | 'stepping' | 'probing';

/** An account that takes part in the load. */
export interface Account {
  id: string;
  key: string;
  openingGrosze: number;
  openingCredits: number;
}
export type Accounts = Record<Payer, Account>;

/** One request as planned; its body is fixed at the first try, so that every retry is the same request. */
export interface Planned {
  /** Idempotency key and the reference of its messages. */
  tag: string;
  payer: Payer;
  recipients: string[];
  single: boolean;
  text: string;
  /** Seconds ahead; null means at once. */
  scheduled: number | null;
  cancel: boolean;
}

/** What its caller was told in the end. */
export interface Told {
  request: Planned;
  status: 201 | 402;
  /** The body as it was sent, and sent again. */
  body: string;
  /** Ids of the messages, when it was accepted. */
  messages: { id: string; to: string; cost_grosze: number }[];
}

/** One answer, or a connection that was lost (status 0). */
export interface Answer {
  at: number;
  status: number;
  ms: number;
}

/** A load under way. */
export interface Load {
  /** Requests that have got their final answer. */
  answered(): number;
  answers: Answer[];
  /** Answers that no caller should ever see. */
  complaints: string[];
  /** Goes through no more of the plan; requests under way still get their answers. */
  end(): void;
  /** All final answers, once every request has one. */
  done: Promise<Told[]>;
}

/** Begins the tag of a request of `probing`: its caller may have been told that nobody knows. */
export const PROBE_TAG = 'probe';

/** Of a part, in grosze. */
export const PRICE = 10;
const POOR_BALANCE = 40 * PRICE;
const RATE = '100000';
const TRIAL_NUMBERS = ['+48500111222', '+48500111333'];
// Beyond the end of any round, so that such a message is still waiting when the round is checked.
const FAR_AHEAD_SECONDS = 3600;
const CLIENTS = 8;
const ANSWER_PATIENCE_MS = 15_000;
const REQUEST_PATIENCE_MS = 120_000;
const ODD_ENDINGS = ['901', '902', '903', '904', '905', '907', '908'];
const LONG_TEXT = 'Zażółć gęślą jaźń. '.repeat(8);

/** Who is told of events: a receiver for each account with a webhook. */
type Receivers = Record<'telling' | 'stepping', Pick<WebhookReceiver, 'url' | 'useSecret'>>;

/** Makes the accounts by the operator's command line; `telling` and `stepping` have a webhook. */
export async function makeAccounts(installation: Installation, receivers: Receivers): Promise<Accounts> {
  const make = async (mode: 'live' | 'test', balance: number): Promise<Account> => {
    const settings = ['--mode', mode, '--balance', String(balance), '--price', String(PRICE)];
    const created = await installation.admin(
      ...['accounts', 'create', '--name', 'Crash', ...settings, '--rate-limit', RATE],
    );
    const id = z.string().parse(created['id']);
    const { key } = await installation.admin('keys', 'create', '--account', id);
    return {
      id,
      key: z.string().parse(key),
      openingGrosze: balance,
      openingCredits: mode === 'test' ? 25 : 0,
    };
  };
  const [rich, telling, poor, trial, stepping, probing] = await Promise.all([
    make('live', 1_000_000),
    make('live', 1_000_000),
    make('live', POOR_BALANCE),
    make('test', 0),
    make('live', 1_000_000),
    make('live', 1_000_000),
  ]);
  for (const msisdn of TRIAL_NUMBERS)
    await installation.admin('numbers', 'verify', '--account', trial.id, '--msisdn', msisdn);
  const tell = async (account: Account, receiver: Receivers['telling']): Promise<void> => {
    const answer = await fetch(`${installation.apiUrls[0]}/v1/account/webhook`, {
      method: 'PUT',
      headers: headersOf(account),
      body: JSON.stringify({ url: receiver.url }),
    });
    receiver.useSecret(z.object({ webhook_secret: z.string() }).parse(await answer.json()).webhook_secret);
  };
  await Promise.all([tell(telling, receivers.telling), tell(stepping, receivers.stepping)]);
  return { rich, telling, poor, trial, stepping, probing };
}

/**
 * Makes the accounts with one receiver, which refuses a call now and then; it ends with the test.
 * @param refusing whether the receiver refuses every call
 */
export async function makeTellingAccounts(
  installation: Installation,
  started: Endings,
  refusing: () => boolean = () => false,
): Promise<{ accounts: Accounts; receiver: WebhookReceiver }> {
  const nowAndThen = refusingEvery(25);
  const receiver = await startReceiver((call) => (refusing() ? 503 : nowAndThen(call)));
  started.add(() => receiver.close());
  const quiet = { url: receiver.url, useSecret: () => undefined };
  const accounts = await makeAccounts(installation, { telling: receiver, stepping: quiet });
  return { accounts, receiver };
}

/**
 * Plans requests: mostly single ones sent at once, some with several recipients, some for later, some odd endings.
 * Each message has a number of its own, but those of the trial account: SMSCs tell submits apart by nothing else.
 * @param after the last four-digit subscriber number used so far; each recipient takes the next one
 */
export function planLoad(
  chance: Chance,
  round: string,
  requests: number,
  after = chance.between(0, 50_000),
): Planned[] {
  let subscriber = after;
  const used = new Set(TRIAL_NUMBERS);
  const recipient = (): string => {
    subscriber += 1;
    const ending = chance.odds(0.12) ? chance.pick(ODD_ENDINGS) : String(chance.between(100, 899));
    const msisdn = `+4850${String(subscriber % 10_000).padStart(4, '0')}${ending}`;
    if (used.has(msisdn)) return recipient();
    used.add(msisdn);
    return msisdn;
  };
  return Array.from({ length: requests }, (_, index) => {
    const payer = payerOf(chance.next());
    const single = payer === 'trial' || chance.odds(0.93);
    const several = Array.from({ length: chance.between(2, 20) }, recipient);
    const timing = chance.next();
    const cancel = timing > 0.97;
    return {
      tag: `${round}-${index}`,
      payer,
      single,
      recipients: single ? [payer === 'trial' ? chance.pick(TRIAL_NUMBERS) : recipient()] : several,
      text: chance.odds(0.1) ? LONG_TEXT : `Wiadomość ${index}`,
      scheduled: cancel || timing > 0.95 ? FAR_AHEAD_SECONDS : timing < 0.15 ? chance.between(2, 6) : null,
      cancel,
    };
  });
}

function payerOf(share: number): Payer {
  if (share < 0.5) return 'rich';
  if (share < 0.75) return 'telling';
  return share < 0.88 ? 'poor' : 'trial';
}

/**
 * Sends the requests by several clients, each going on with the next one as soon as it has its answer, or after a pause.
 */
export function startLoad(
  urls: string[],
  accounts: Accounts,
  plan: Planned[],
  { clients = CLIENTS, pauseMs = 0 }: { clients?: number; pauseMs?: number } = {},
): Load {
  const answers: Answer[] = [];
  const complaints: string[] = [];
  const told: Told[] = [];
  let next = 0;
  const client = async (number: number): Promise<void> => {
    for (let request = plan[next++]; request !== undefined; request = plan[next++]) {
      const caller = callerOf(urls, number, accounts[request.payer], answers, complaints);
      const answer = await send(caller, request);
      if (request.cancel) for (const { id } of answer.messages) await cancel(caller, id);
      told.push(answer);
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  const done = Promise.all(Array.from({ length: clients }, (_, number) => client(number))).then(() => told);
  // Awaited later; until then a failure must not end the process.
  done.catch(() => undefined);
  return { answered: () => told.length, answers, complaints, end: () => (next = plan.length), done };
}

/** Asks for one account outside the plan, again and again until the answer is final; keeps answers as a load does. */
export function oneCaller(
  urls: string[],
  account: Account,
  { answers, complaints }: Pick<Load, 'answers' | 'complaints'>,
) {
  const call = callerOf(urls, 0, account, answers, complaints);
  return {
    send: (request: Planned): Promise<Told> => send(call, request),
    cancel: (id: string): Promise<void> => cancel(call, id),
  };
}

type Caller = (
  what: string,
  path: string,
  init: RequestInit & { method: string },
  isFinal: (status: number) => boolean,
) => Promise<{ status: number; body: unknown }>;

const envelope = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), param: z.string().optional() }),
  request_id: z.string(),
});
const RETRIED = new Set([409, 502, 504]);

/** Repeats a call, on the next API process after a lost connection, until its answer is final. */
function callerOf(
  urls: string[],
  first: number,
  account: Account,
  answers: Answer[],
  complaints: string[],
): Caller {
  let turn = first;
  return async (what, path, init, isFinal) => {
    const deadline = Date.now() + REQUEST_PATIENCE_MS;
    for (let last = 'nothing'; Date.now() < deadline; await delay(200)) {
      const at = Date.now();
      const url = urls[turn % urls.length]! + path;
      const signal = AbortSignal.timeout(ANSWER_PATIENCE_MS);
      const headers = { ...headersOf(account), ...(init.headers as Record<string, string> | undefined) };
      const answer = await fetch(url, { ...init, headers, signal })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch((error: unknown) => ({ status: 0, text: String(error) }));
      answers.push({ at: Date.now(), status: answer.status, ms: Date.now() - at });
      if (answer.status === 0) {
        turn += 1;
        if (/TimeoutError/.test(answer.text))
          complaints.push(`${what}: no answer in ${ANSWER_PATIENCE_MS} ms`);
        continue;
      }
      const body: unknown = JSON.parse(answer.text);
      if (answer.status >= 400 && !envelope.safeParse(body).success)
        complaints.push(`${what}: ${answer.text}`);
      if (isFinal(answer.status)) return { status: answer.status, body };
      last = `${answer.status} ${answer.text}`;
      if (!RETRIED.has(answer.status)) {
        complaints.push(`${what}: ${last}`);
        if (answer.status < 500) throw new Error(`${what}: ${last}`);
      }
      if (Date.now() > deadline - 1000) throw new Error(`${what}: no final answer, last ${last}`);
    }
    throw new Error(`${what}: no final answer`);
  };
}

const message = z.object({ id: z.string(), to: z.string(), cost_grosze: z.number() });
const accepted = z.union([message, z.object({ messages: z.array(message) })]);

async function send(call: Caller, request: Planned): Promise<Told> {
  const { tag, recipients, single, text, scheduled } = request;
  const body = JSON.stringify({
    to: single ? recipients[0] : recipients,
    text,
    reference: tag,
    ...(scheduled === null ? {} : { send_at: new Date(Date.now() + scheduled * 1000).toISOString() }),
  });
  const init = { method: 'POST', body, headers: { 'idempotency-key': tag } };
  const answer = await call(tag, '/v1/messages', init, (status) => status === 201 || status === 402);
  if (answer.status === 402) return { request, body, status: 402, messages: [] };
  const parsed = accepted.parse(answer.body);
  return { request, body, status: 201, messages: 'messages' in parsed ? parsed.messages : [parsed] };
}

async function cancel(call: Caller, id: string): Promise<void> {
  await call(`cancel ${id}`, `/v1/messages/${id}`, { method: 'DELETE' }, (status) => status === 200);
}

/** Waits until this many requests have their final answer. */
export async function untilAnswered(load: Load, count: number): Promise<void> {
  const failed = load.done.then(() => undefined);
  while (load.answered() < count) await Promise.race([delay(5), failed.then(() => delay(5))]);
}

export function headersOf({ key }: Account): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}
