import { promises as dns } from 'node:dns';
import { ZodError } from 'zod';
import { type DnsAnswer, type DnsRecord, isPublished, type SeenRecord } from '../../../domain/email/dns.ts';
import type { Database } from '../../../db/connection.ts';
import { DecryptionError } from '../../../db/installation.ts';
import { type DomainRoute, readAllDomainRoutes, type SenderDomain } from '../../../db/emails/domains.ts';
import { readRoutes, type Route, routeCredentials } from '../../../db/routes/routes.ts';
import type { RecordCheck } from '../../../domain/email/domainStates.ts';
import { DomainProblem, type DomainRule, type ProviderDomain } from '../../../providers/email.ts';
import { providerKinds } from '../../../providers/registry.ts';

const TRY_MS = 2_000;
const TRIES = 2;
// For all names of a domain together: its DNS servers may be arbitrarily slow.
const ALTOGETHER_MS = 10_000;
const DNS_RECORDS_MAX = 100;
const CHARACTERS_MAX = 50_000;

/** DNS servers, `192.0.2.1` or `[2001:db8::1]:53`; null: the system's. */
export type DnsServers = readonly string[] | null;

/** The result of a DNS query for a record; `problem`: no answer, so nothing is concluded. */
type Sight = { seen: boolean } | { problem: string };

interface DnsChecker {
  lookFor(record: DnsRecord): Promise<Sight>;
}

type Answered = { answer: DnsAnswer } | { problem: string };

/** Provides `work` with DNS queries, each name queried once, within ten seconds in total. */
async function withDns<T>(servers: DnsServers, work: (eyes: DnsChecker) => Promise<T>): Promise<T> {
  // One resolver per check: it caches answers, and cancelling it does not affect other checks.
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
        return 'problem' in found ? found : { seen: isPublished(record, found.answer) };
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
    if (answer.length <= DNS_RECORDS_MAX && characters <= CHARACTERS_MAX) return { answer };
    return { problem: `DNS answers too much about ${record.name}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // No such name, or no record of this type: a valid answer.
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

const RECORDS_MAX = 50;
const PROBLEM_MAX = 300;
const UNUSABLE = 'the route’s settings or credentials cannot be used';
const NOT_OURS =
  'the provider had this domain verified before it was added here: remove it there, or confirm it here';

interface LookServices {
  sql: Database;
  secretsKey: () => Promise<Buffer>;
}

export interface RouteLook {
  route: string;
  providerDomainId: string | null;
  records: SeenRecord[];
  verdict: RecordCheck;
  problem: string | null;
}

type Rule = DomainRule<unknown, unknown>;
type Kept = Pick<DomainRoute, 'providerDomainId' | 'records'>;

/**
 * Checks a domain on each enabled e-mail route: by DNS where we sign e-mails, otherwise by the provider. `problem`: the query failed.
 * @param servers undefined: query neither DNS nor providers (beyond adding the domain); only determine the required records
 */
export async function lookAt(
  services: LookServices,
  domain: SenderDomain,
  servers?: DnsServers,
): Promise<RouteLook[]> {
  const routes = (await readRoutes(services.sql)).filter(({ state }) => state !== 'disabled');
  const known = new Map((await readAllDomainRoutes(services.sql, domain.id)).map((row) => [row.route, row]));
  const lookAll = (eyes: DnsChecker | null): Promise<RouteLook[]> =>
    Promise.all(
      routes.flatMap((route) => {
        const rule = ruleOf(route);
        return rule === null ? [] : [lookFor(services, { domain, route, rule, eyes }, known.get(route.name))];
      }),
    );
  return servers === undefined ? await lookAll(null) : await withDns(servers, lookAll);
}

/** Removes a domain from the providers. @returns names of the routes whose provider still has it */
export async function removeAtProviders(
  services: LookServices,
  rows: readonly DomainRoute[],
): Promise<string[]> {
  const listed = rows.filter(({ providerDomainId }) => providerDomainId !== null);
  if (listed.length === 0) return [];
  const routes = new Map((await readRoutes(services.sql)).map((route) => [route.name, route]));
  const left = await Promise.all(
    listed.map(async ({ route: name, providerDomainId }) => {
      const route = routes.get(name);
      const rule = route === undefined ? null : ruleOf(route);
      if (route === undefined || rule?.by !== 'provider' || providerDomainId === null) return [name];
      const problem = await problemOf(async () =>
        rule.remove(route.settings, await credentialsOf(services, route), providerDomainId),
      );
      return problem === null ? [] : [name];
    }),
  );
  return left.flat();
}

interface DomainCheck {
  domain: SenderDomain;
  route: Route;
  rule: Rule;
  eyes: DnsChecker | null;
}

async function lookFor(
  services: LookServices,
  looking: DomainCheck,
  known: Kept | undefined,
): Promise<RouteLook> {
  const kept = { providerDomainId: known?.providerDomainId ?? null, records: known?.records ?? [] };
  let look: Omit<RouteLook, 'route'> = { ...kept, verdict: 'unknown', problem: null };
  const problem = await problemOf(async () => {
    look =
      looking.rule.by === 'us'
        ? await ownLook(looking, looking.rule, kept)
        : await providerLook(services, looking, looking.rule, kept);
  });
  return { ...look, route: looking.route.name, problem: problem ?? look.problem };
}

async function ownLook(
  { domain, route, eyes }: DomainCheck,
  rule: Extract<Rule, { by: 'us' }>,
  kept: Kept,
): Promise<Omit<RouteLook, 'route'>> {
  const { name, dkimSelector: selector, dkimPublicKey: publicKey } = domain;
  const needed = rule.records(route.settings, { name, selector, publicKey });
  const sights = eyes === null ? null : await Promise.all(needed.map((record) => eyes.lookFor(record)));
  let problem: string | null = null;
  const records = needed.map((record, index) => {
    const sight = sights?.[index];
    if (sight !== undefined && 'seen' in sight) return { ...record, seen: sight.seen };
    problem ??= sight?.problem ?? null;
    return { ...record, seen: wasSeen(kept.records, record) };
  });
  const verdict =
    sights === null || problem !== null
      ? 'unknown'
      : records.every(({ seen }) => seen)
        ? 'verified'
        : 'missing';
  return { providerDomainId: kept.providerDomainId, records, verdict, problem };
}

function wasSeen(before: readonly SeenRecord[], { type, name, value }: DnsRecord): boolean {
  return before.some(
    (record) => record.type === type && record.name === name && record.value === value && record.seen,
  );
}

async function providerLook(
  services: LookServices,
  { domain, route, eyes }: DomainCheck,
  rule: Extract<Rule, { by: 'provider' }>,
  kept: Kept,
): Promise<Omit<RouteLook, 'route'>> {
  const credentials = await credentialsOf(services, route);
  if (kept.providerDomainId !== null) {
    if (eyes === null) return { ...kept, verdict: 'unknown', problem: null };
    const there = await rule.check(route.settings, credentials, kept.providerDomainId);
    if (there !== null) return asSaid(there);
  }
  const added = await rule.add(route.settings, credentials, domain.name);
  // Another account, since gone, may have verified it at the provider; that proves nothing about this one.
  const isOurs = !added.verified && !added.records.some(({ seen }) => seen);
  if (!isOurs) return { providerDomainId: null, records: [], verdict: 'missing', problem: NOT_OURS };
  return asSaid(added);
}

function asSaid({ id, verified, records }: ProviderDomain): Omit<RouteLook, 'route'> {
  return {
    providerDomainId: id,
    records: records.slice(0, RECORDS_MAX).map((record) => ({ ...record })),
    verdict: verified ? 'verified' : 'missing',
    problem: null,
  };
}

/** The records that a route's provider needs for a domain; null if it sends no e-mail. */
function ruleOf({ kind }: Route): Rule | null {
  return providerKinds.named(kind)?.email?.domains ?? null;
}

async function credentialsOf({ secretsKey }: LookServices, route: Route): Promise<unknown> {
  return route.credentials === null ? null : routeCredentials(await secretsKey(), route);
}

/** Runs `work` and returns its problem in words for staff; null if it succeeded. @throws unexpected errors */
async function problemOf(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof DomainProblem) return error.message.slice(0, PROBLEM_MAX);
    if (error instanceof ZodError || error instanceof DecryptionError) return UNUSABLE;
    throw error;
  }
}
