import type { Sql } from '../../db/connection.ts';
import { signingKey } from '../../db/emails/handOver.ts';
import { readEmailTerms } from '../../db/emails/accept.ts';
import { type DnsServer, inChunks } from './dnsServer.ts';

/** A record as the command line shows it. */
interface ShownRecord {
  type: 'TXT' | 'MX' | 'CNAME';
  name: string;
  value: string;
  priority: number | null;
  purpose: string;
  seen: boolean;
}

/** A sender domain as the command line shows it. */
export interface ShownDomain {
  id: string;
  name: string;
  status: string;
  is_default: boolean;
  records: ShownRecord[];
  routes: { route: string; verified: boolean; problem: string | null; records: ShownRecord[] }[];
}

/** Sets records as their owner would. */
export function setRecords({ zone }: DnsServer, records: readonly ShownRecord[]): void {
  for (const { type, name, value, priority } of records) {
    const before = zone.get(name);
    const at = typeof before === 'object' ? before : {};
    if (type === 'TXT') zone.set(name, { ...at, TXT: [...(at.TXT ?? []), inChunks(value)] });
    if (type === 'MX')
      zone.set(name, { ...at, MX: [{ exchange: value.toUpperCase(), preference: (priority ?? 0) + 5 }] });
  }
}

/** A domain that an account may write from, by the routes that take it; undefined: it may not. @param name null: its default */
export async function usableDomain(
  sql: Sql,
  account: string,
  name: string | null,
): Promise<{ name: string; routes: string[] } | undefined> {
  const { domain, verifiedRoutes: routes } = (await readEmailTerms(sql, account, name, []))!;
  return domain === null || routes.length === 0 ? undefined : { name: domain, routes };
}

/** What the e-mails of a domain are signed with; undefined: the account has no such domain. */
export async function signingKeyOf(
  sql: Sql,
  secretsKey: Buffer,
  account: string,
  name: string,
): Promise<{ name: string; selector: string; privateKey: string } | undefined> {
  const [row] = await sql<{ id: string; dkimSelector: string; dkimPrivateKey: Buffer }[]>`
    select id, dkim_selector, dkim_private_key from sender_domains where account_id = ${account} and name = ${name}`;
  if (row === undefined) return undefined;
  return { name, selector: row.dkimSelector, privateKey: signingKey(secretsKey, row.id, row.dkimPrivateKey) };
}
