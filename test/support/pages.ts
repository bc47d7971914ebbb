import { UNSUBSCRIBE_TOKEN_LENGTH } from '../../db/emails/suppressions.ts';
import { newId } from '../../db/ids.ts';
import { randomToken } from '../../db/ids.ts';
import { OPT_OUT_TOKEN_LENGTH } from '../../domain/links.ts';
import { database, type TestAccount } from './factories.ts';
import { optOutToken } from './madeLinks.ts';

/** A visit's answer. */
export interface PageVisit {
  status: number;
  headers: Headers;
  text: string;
}

/** What a person's telephone calls itself. */
export const TELEPHONE =
  'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36';

/** What a page of ours lets the browser load and do. */
export const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Opens a public page; as a person's telephone unless the headers say something else. */
export async function visit(
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<PageVisit> {
  const response = await fetch(url, {
    method,
    headers: { 'user-agent': TELEPHONE, ...headers },
    redirect: 'manual',
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The path of an opt-out link for a number in E.164 with plus. */
export async function optOutPath({ id }: TestAccount, msisdn: string, sender = 'SKLEP'): Promise<string> {
  return `/o/${await optOutToken(database(), id, sender, msisdn)}`;
}

/** The path of an opt-out link that nobody was sent. */
export function unknownOptOutPath(): string {
  return `/o/${randomToken(OPT_OUT_TOKEN_LENGTH)}`;
}

/** The path of an unsubscribe link for an address in small letters. */
export async function unsubscribePath({ id }: TestAccount, address: string): Promise<string> {
  const token = randomToken(UNSUBSCRIBE_TOKEN_LENGTH);
  await database()`
    insert into unsubscribe_links (token, account_id, address, email_id)
    values (${token}, ${id}, ${address}, ${newId('em')})`;
  return `/u/${token}`;
}

/** The path of an unsubscribe link that nobody was sent. */
export function unknownUnsubscribePath(): string {
  return `/u/${randomToken(UNSUBSCRIBE_TOKEN_LENGTH)}`;
}
