import { promises as dns } from 'node:dns';
import type { DnsRecord } from '../../../domain/email/dnsRecords.ts';
import { type DnsAnswer, isSeen } from '../../../domain/email/seenInDns.ts';

const TRY_MS = 2_000;
const TRIES = 2;
// For all names of a domain together: whoever runs its DNS decides how long that would take.
const ALTOGETHER_MS = 10_000;
const RECORDS_MAX = 100;
const CHARACTERS_MAX = 50_000;

/** Which servers are asked, `192.0.2.1` or `[2001:db8::1]:53`; null: those of the system. */
export type DnsServers = readonly string[] | null;

/** What came of looking for a record; `problem`: there was no answer, and nothing is concluded. */
export type Sight = { seen: boolean } | { problem: string };

/** Looks for records as long as it is open. */
export interface DnsEyes {
  lookFor(record: DnsRecord): Promise<Sight>;
}

type Answered = { answer: DnsAnswer } | { problem: string };

/**
 * Asks DNS for the records of a domain, each name once, for ten seconds at most.
 * @param work what asks
 */
export async function withDns<T>(servers: DnsServers, work: (eyes: DnsEyes) => Promise<T>): Promise<T> {
  // Made anew each time: it keeps answers, and its end ends nobody else's questions.
  const resolver = new dns.Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== null) resolver.setServers(servers);
  const asked = new Map<string, Promise<Answered>>();
  const ask = (record: DnsRecord): Promise<Answered> => {
    const key = `${record.type} ${record.name}`;
    const known = asked.get(key) ?? answered(resolver, record);
    asked.set(key, known);
    return known;
  };
  const limit = setTimeout(() => resolver.cancel(), ALTOGETHER_MS);
  try {
    return await work({
      async lookFor(record) {
        const found = await ask(record);
        return 'problem' in found ? found : { seen: isSeen(record, found.answer) };
      },
    });
  } finally {
    clearTimeout(limit);
  }
}

async function answered(resolver: dns.Resolver, record: DnsRecord): Promise<Answered> {
  try {
    const answer = await resolve(resolver, record);
    const characters = answer.reduce((sum, { length }) => sum + length, 0);
    if (answer.length <= RECORDS_MAX && characters <= CHARACTERS_MAX) return { answer };
    return { problem: `DNS answers too much about ${record.name}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // There is no such name, or nothing of this type: an answer too.
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { answer: [] };
    if (code === undefined) throw error;
    return { problem: `DNS gives no answer about ${record.name} (${code})` };
  }
}

async function resolve(resolver: dns.Resolver, { type, name }: DnsRecord): Promise<string[]> {
  switch (type) {
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((chunks) => chunks.join(''));
    case 'MX':
      return (await resolver.resolveMx(name)).map(({ exchange }) => exchange);
    case 'CNAME':
      return await resolver.resolveCname(name);
  }
}
