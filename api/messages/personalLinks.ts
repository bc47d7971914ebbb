import type { Sql } from '../../db/connection.ts';
import { linkTokens } from '../../db/links/links.ts';
import { OPT_OUT_TOKEN_LENGTH, optOutTokens } from '../../db/incoming/optOut.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { linkAddresses } from '../../domain/placeholders.ts';
import type { PersonalLinks, Wording } from './wording.ts';

/** The links of one recipient, and the tokens of the tracked ones among them. */
export interface OwnLinks extends PersonalLinks {
  tokens: string[];
}

/** Links as long as real ones, which lead nowhere: for measuring a text before anything is written. */
export function sampleLinks(shortUrl: string): PersonalLinks {
  const host = withoutScheme(shortUrl);
  return {
    optOut: `${host}/o/${'X'.repeat(OPT_OUT_TOKEN_LENGTH)}`,
    link: () => `${host}/l/${'X'.repeat(LINK_TOKEN_LENGTH)}`,
  };
}

/**
 * Finds or makes the links that a text has for each recipient: one opt-out link for the sender, one tracked link for
 * each address (v2.3.0, TrackedLink; Blacklist and opt-out). In texts they stand without scheme, to save characters.
 */
export async function ownLinks(
  sql: Sql,
  accountId: string,
  sender: string,
  { pieces }: Wording,
  shortUrl: string,
  msisdns: readonly string[],
): Promise<(msisdn: string) => OwnLinks> {
  const urls = linkAddresses(pieces);
  const wanted = msisdns.flatMap((recipient) => urls.map((url) => ({ recipient, url })));
  const tracked = wanted.length === 0 ? new Map<string, string>() : await linkTokens(sql, accountId, wanted);
  const optOut = pieces.some(({ kind }) => kind === 'opt-out')
    ? await optOutTokens(sql, accountId, sender, msisdns)
    : new Map<string, string>();
  const host = withoutScheme(shortUrl);
  const tokenOf = (msisdn: string, url: string) => tracked.get(`${msisdn}\n${url}`)!;
  return (msisdn) => ({
    optOut: `${host}/o/${optOut.get(msisdn)}`,
    link: (url) => `${host}/l/${tokenOf(msisdn, url)}`,
    tokens: urls.map((url) => tokenOf(msisdn, url)),
  });
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, '');
}
