import type { Sql } from '../../db/connection.ts';
import { knownOptOuts } from '../../db/incoming/optOut.ts';
import { NO_OPT_OUT_TOKEN, OPT_OUT_TOKEN_LENGTH } from '../../domain/optOutLinks.ts';
import { knownLinks } from '../../db/links/links.ts';
import { randomToken } from '../../db/links/tokens.ts';
import type { NewLink } from '../../db/messages/accept.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { linkAddresses } from '../../domain/placeholders.ts';
import type { PersonalLinks, Wording } from './wording.ts';

/** The links of one recipient, with what its message says of them. */
export interface OwnLinks extends PersonalLinks {
  tracked: NewLink[];
  /** The token of an opt-out link that is to be made. */
  newOptOut: string | null;
}

/** Links as long as real ones, which lead nowhere: for measuring a text before anything is written. */
export function sampleLinks(shortUrl: string): PersonalLinks {
  const host = withoutScheme(shortUrl);
  return {
    optOut: `${host}/o/${NO_OPT_OUT_TOKEN}`,
    link: () => `${host}/l/${'X'.repeat(LINK_TOKEN_LENGTH)}`,
  };
}

/**
 * Finds the links that a text has for each recipient: one opt-out link for the sender, one tracked link for each address
 * (v2.3.0, TrackedLink; Blacklist and opt-out). Those that there are not get a token; nothing is written. In texts they
 * stand without scheme, to save characters.
 */
export async function ownLinks(
  sql: Sql,
  accountId: string,
  sender: string | null,
  { pieces }: Wording,
  shortUrl: string,
  msisdns: readonly string[],
): Promise<(msisdn: string) => OwnLinks> {
  const urls = linkAddresses(pieces);
  const wanted = msisdns.flatMap((recipient) => urls.map((url) => ({ recipient, url })));
  const known = await knownLinks(sql, accountId, wanted);
  const hasOptOut = pieces.some(({ kind }) => kind === 'opt-out');
  const optOuts = hasOptOut
    ? await knownOptOuts(sql, accountId, sender ?? '', msisdns)
    : new Map<string, string>();
  const host = withoutScheme(shortUrl);
  return (msisdn) => {
    const tracked = urls.map((url) => linkOf(url, known.get(`${msisdn}\n${url}`)));
    const newOptOut = hasOptOut && !optOuts.has(msisdn) ? randomToken(OPT_OUT_TOKEN_LENGTH) : null;
    return {
      optOut: `${host}/o/${optOuts.get(msisdn) ?? newOptOut}`,
      link: (url) => `${host}/l/${tracked.find((link) => link.url === url)!.token}`,
      tracked,
      newOptOut,
    };
  };
}

function linkOf(url: string, known: string | undefined): NewLink {
  return { url, token: known ?? randomToken(LINK_TOKEN_LENGTH), isNew: known === undefined };
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, '');
}
