import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../db/connection.ts';
import { addRoute, addRule, sealCredentials } from '../../db/routes/routes.ts';
import type { ResendServer } from '../providers/resendServer.ts';
import { insertDomain } from '../support/email.ts';
import type { Endings } from '../support/endings.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';
import { untilBound } from '../support/product.ts';
import type { Chance } from './chance.ts';
import { drawScript, type Script } from './emailFaults.ts';
import type { Fate } from './emailReports.ts';
import type { Separate } from './installation.ts';
import { createMailAccount } from './mailAccount.ts';

/** The route to the provider that errs. */
export const ROUTE = 'resend';

// Every sixth e-mail is the poor account's, which cannot pay for all of its.
const POOR_EACH = 6;
const RICH_GROSZE = 100_000;
const AT_ONCE = 20;
// What its caller has lost is decided by then, or forgotten.
const ANSWERED_MS = 3 * 60_000;
const AGAIN_MS = 500;
// Several pieces of a file, as the database keeps it.
const LARGE_BYTES = 300_000;
const LARGE = 0.05;
const DELIVERED = 0.7;

export type Payer = 'rich' | 'poor';

/** An account that sends e-mails. */
export interface MailAccount {
  id: string;
  token: string;
  openingGrosze: number;
}

/** An e-mail that is asked for, and what is to become of it. */
export interface Wished {
  /** The subject as well, by which the provider knows it. */
  idx: string;
  payer: Payer;
  to: string[];
  file: Buffer;
  script: Script;
  fate: Fate;
}

/** What its caller was told in the end. */
export interface Told {
  status: 200 | 402;
  /** Null: it was refused. */
  id: string | null;
  /** Answers that never came. */
  lost: number;
  replayed: boolean;
}

/** Draws e-mails with their faults and fates; no address is there twice. */
export function planEmails(chance: Chance, count: number): Wished[] {
  return Array.from({ length: count }, (_, index): Wished => {
    const others = Array.from({ length: chance.between(0, 2) }, (__, i) => `k${i}+${index}@klient.example`);
    return {
      idx: `zam-${index}`,
      payer: index % POOR_EACH === 0 ? 'poor' : 'rich',
      to: [`jan+${index}@klient.example`, ...others],
      file: chance.odds(LARGE) ? randomBytes(LARGE_BYTES) : Buffer.from(`faktura ${index}`),
      script: drawScript(chance),
      fate: chance.odds(DELIVERED)
        ? 'delivered'
        : chance.pick(['bounced', 'returned', 'complained'] as const),
    };
  });
}

/** Adds the route, and waits until every worker works with it. */
export async function openRoute(service: Separate, sql: Database, resend: ResendServer): Promise<void> {
  const { url, apiKey, webhookSecret } = resend;
  await addRoute(sql, {
    ...{ name: ROUTE, kind: 'resend', state: 'active', settings: { url, responseSeconds: 1 } },
    ...{ ratePerSecond: null, brokenAfterS: 600 },
    credentials: sealCredentials(service.secretsKey, ROUTE, { apiKey, webhookSecret }),
  });
  await untilBound(sql, ROUTE, service.workers.length);
}

/** Makes the accounts that pay for these e-mails; the poor one has half of what its own cost. */
export async function makeMailAccounts(
  service: Separate,
  sql: Database,
  resend: ResendServer,
  wished: readonly Wished[],
): Promise<Record<Payer, MailAccount>> {
  const cost = wished.filter(({ payer }) => payer === 'poor').reduce((sum, { to }) => sum + to.length, 0);
  return {
    rich: await makeMailAccount(service, sql, resend, RICH_GROSZE),
    poor: await makeMailAccount(service, sql, resend, Math.floor(cost / 2)),
  };
}

/** One that sends by the route, from a domain that is verified for it. */
async function makeMailAccount(
  service: Separate,
  sql: Database,
  resend: ResendServer,
  openingGrosze: number,
): Promise<MailAccount> {
  const { id, token } = await createMailAccount(service, openingGrosze);
  const rule = { prefix: '', accountId: id, type: 'email' as const, priority: null, weight: 100 };
  await addRule(sql, { ...rule, route: ROUTE });
  const name = await insertDomain(sql, service.secretsKey, id, { routes: [ROUTE] });
  const listed = { status: 'verified', region: 'eu-west-1', created_at: '', records: [] };
  resend.domains.push({ id: name, name, ...listed });
  return { id, token, openingGrosze };
}

/** What the webhook of an account was called with. */
export interface MailWebhook {
  calls: { signature: string; raw: string }[];
  isSigned: (call: { signature: string; raw: string }) => boolean;
}

/** Gives an account a webhook of the earlier interface that takes everything. */
export async function openWebhook(
  service: Separate,
  account: MailAccount,
  started: Endings,
): Promise<MailWebhook> {
  const calls: MailWebhook['calls'] = [];
  const receiver = await startHttpReceiver((response, raw, { headers }) => {
    calls.push({ signature: String(headers['x-service-signature']), raw: raw.toString('utf8') });
    response.writeHead(200).end();
  });
  started.add(() => receiver.close());
  const set = await service.admin('webhooks', 'legacy', '--account', account.id, '--url', receiver.url);
  const secret = z.string().parse(set['legacy_webhook_secret']);
  return {
    calls,
    isSigned({ signature, raw }) {
      const [, t, sig] = /^v1,t=(\d+),sig=([0-9a-f]{64})$/.exec(signature) ?? [];
      return sig === createHmac('sha256', secret).update(`v1.${t}.${raw}`).digest('hex');
    },
  };
}

/** Does something with each, many at once. */
export async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const accepted = z.strictObject({
  success: z.literal(true),
  data: z.strictObject({
    ...{ id: z.string(), to: z.string(), status: z.literal('queued'), cost: z.number(), sent_at: z.string() },
  }),
});

/** Asks one API after the other until it is answered for good. */
export async function sendUntilAnswered(
  urls: readonly string[],
  account: MailAccount,
  wished: Wished,
): Promise<Told> {
  const deadline = Date.now() + ANSWERED_MS;
  let lost = 0;
  for (let tries = 0; ; tries += 1) {
    const { status, text, replayed } = await ask(urls[tries % urls.length]!, account, wished);
    if (status === 402) return { status, id: null, lost, replayed };
    if (status === 200) {
      const { data } = accepted.parse(JSON.parse(text));
      expect(data).toMatchObject({ to: wished.to.join(', '), cost: wished.to.length });
      return { status, id: data.id, lost, replayed };
    }
    if (status === 0) lost += 1;
    else expect([429, 502, 503, 504], text).toContain(status);
    if (Date.now() > deadline) throw new Error(`${wished.idx} has no answer: ${status} ${text}`);
    await delay(AGAIN_MS);
  }
}

async function ask(
  url: string,
  { token }: MailAccount,
  { to, idx, file }: Wished,
): Promise<{ status: number; text: string; replayed: boolean }> {
  const attachments = [{ filename: 'faktura.pdf', content: file.toString('base64') }];
  try {
    const response = await fetch(`${url}/v1/email`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, subject: idx, text: 'Treść', idx, attachments }),
    });
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, text: await response.text(), replayed };
  } catch {
    return { status: 0, text: '', replayed: false };
  }
}
