import { inject } from 'vitest';
import { carryLinks } from './carriedLinks.ts';
import { linkTokens } from './madeLinks.ts';
import type { AnswerBody } from './client.ts';
import { eventually } from './eventually.ts';
import { database, type TestAccount } from './factories.ts';

/** What a telephone's browser says of itself. */
export const BROWSER =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36';
const later = new Date(Date.now() + 86_400_000).toISOString();

/** A tracked link and the message that carries it. */
interface SentLink {
  token: string;
  message: string;
  url: string;
}

/** Sends a message that carries a link to each of the addresses. */
export async function sendLinks(
  account: TestAccount,
  urls: readonly string[],
  recipient = '+48500100200',
): Promise<SentLink[]> {
  const body = await account.api.accepted({ to: recipient, text: 'x', send_at: later });
  const tokens = await carry(account.id, body.id, recipient, urls);
  return urls.map((url, i) => ({ token: tokens[i]!, message: body.id, url }));
}

/** Sends a message that carries one link. */
export async function sendLink(account: TestAccount, url = 'https://example.com/a'): Promise<SentLink> {
  const [link] = await sendLinks(account, [url]);
  return link!;
}

/** Makes a message carry links, as if it had been accepted with them; returns their tokens. */
export async function carry(
  accountId: string,
  message: string,
  recipient: string,
  urls: readonly string[],
): Promise<string[]> {
  const wanted = urls.map((url) => ({ recipient, url }));
  const tokens = [...(await linkTokens(database(), accountId, wanted)).values()];
  await carryLinks(database(), [message], tokens);
  return tokens;
}

/** So many different target addresses. */
export const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `https://example.com/${i}`);

/** Opens a link as a telephone does, without following it. */
export function visit(
  token: string,
  init: RequestInit = {},
  api = inject('service').apiUrl,
): Promise<Response> {
  return fetch(`${api}/l/${token}`, { redirect: 'manual', headers: { 'user-agent': BROWSER }, ...init });
}

/** Waits until so many clicks of a link are counted, and shows the link. */
export async function counted(account: TestAccount, token: string, clicks: number): Promise<AnswerBody> {
  const { body } = await eventually(
    () => account.api.get(`/v1/links/${token}`),
    (answer) => answer.body.clicks >= clicks,
  );
  return body;
}
