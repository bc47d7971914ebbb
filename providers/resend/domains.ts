import { setTimeout as delay } from 'node:timers/promises';
import { DomainProblem, type ProviderDomain, type AwaitRateLimit } from '../email.ts';
import { codeOf, errorOf, describeCode, parseRetryAfterMs } from './answers.ts';
import { LIMITS, resendHttp } from './http.ts';
import { type ResendCredentials, type ResendSettings } from './settings.ts';
import type { SeenRecord } from '../../domain/email/dns.ts';
import { isRecord, type ProviderRequest, wholeBody } from '../http.ts';

// E-mails share the account's rate limit, so a throttled request is retried.
const MAX_ATTEMPTS = 4;
const LONGEST_WAIT_MS = 3_000;
const WORDS_MAX = 150;

interface ProviderResponse {
  status: number;
  json: unknown;
}

/** Sends a request. @throws DomainProblem when there is no answer */
type SendRequest = (request: ProviderRequest) => Promise<ProviderResponse>;

/** Runs `work` with a client whose connections are closed afterwards; `awaitRateLimit` is awaited before each request. @throws DomainProblem */
async function withClient<T>(
  settings: ResendSettings,
  credentials: ResendCredentials,
  work: (ask: SendRequest) => Promise<T>,
  awaitRateLimit: AwaitRateLimit = () => Promise.resolve(),
): Promise<T> {
  const http = resendHttp(settings, credentials);
  try {
    return await work(async (request) => {
      for (let attempt = 1; ; attempt += 1) {
        await awaitRateLimit();
        const exchange = await http.send(request, LIMITS);
        if (exchange.kind !== 'answered') throw new DomainProblem(`no answer: ${exchange.code}`);
        if (exchange.status !== 429 || attempt === MAX_ATTEMPTS) return exchange;
        await delay(Math.min(parseRetryAfterMs(exchange.headers) ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS));
      }
    });
  } finally {
    await http.close();
  }
}

const isDone = ({ status }: ProviderResponse): boolean => status >= 200 && status <= 299;

/** A failed answer as an error, with the provider's message. */
export function problemOf({ status, json }: ProviderResponse): DomainProblem {
  const said = errorOf(json)?.message.replace(/\p{C}/gu, ' ').slice(0, WORDS_MAX) ?? '';
  const code = describeCode(codeOf(status, json));
  return new DomainProblem(said === '' ? code : `${code}: ${said}`);
}

const PAGE = 100;
const PAGES_MAX = 100;
const RECORDS_MAX = 20;
const VALUE_MAX = 2_000;
const DOMAIN_ID = /^[A-Za-z0-9_-]{1,100}$/;
const LABEL = /^[A-Za-z0-9_-]{1,63}$/;

// Verified before, but a record is missing now; the provider keeps sending for 72 hours.
const TEMPORARY_FAILURE = 'temporary_failure';

/** Adds a domain (ASCII), or finds it (https://resend.com/docs/api-reference/domains/create-domain). @throws DomainProblem */
export async function addDomain(
  settings: ResendSettings,
  credentials: ResendCredentials,
  name: string,
): Promise<ProviderDomain> {
  return withClient(settings, credentials, async (ask) => {
    const body = wholeBody('application/json', JSON.stringify({ name, region: settings.region }));
    const created = await ask({ method: 'POST', path: '/domains', body });
    if (isDone(created)) return readDomain(created.json);
    // There is no separate error for a domain that exists already.
    const id = created.status < 500 ? await findDomain(ask, name) : null;
    const found = id === null ? null : await getDomain(ask, id);
    if (found === null) throw problemOf(created);
    return found;
  });
}

/**
 * Starts the provider's asynchronous DNS check (https://resend.com/docs/api-reference/domains/verify-domain) and returns what is known so
 * far; null when the provider no longer has the domain.
 * @throws DomainProblem
 */
export async function checkDomain(
  settings: ResendSettings,
  credentials: ResendCredentials,
  id: string,
): Promise<ProviderDomain | null> {
  return withClient(settings, credentials, async (ask) => {
    const known = await getDomain(ask, id);
    // The provider rechecks verified domains itself, and would accept no e-mails from one while a new check runs.
    if (known === null || known.verified) return known;
    const begun = await ask({ method: 'POST', path: `${pathOf(id)}/verify` });
    if (begun.status === 404) return null;
    if (!isDone(begun)) throw problemOf(begun);
    return getDomain(ask, id);
  });
}

/** Removes a domain; succeeds when the provider does not have it. @throws DomainProblem */
export async function removeDomain(
  settings: ResendSettings,
  credentials: ResendCredentials,
  id: string,
): Promise<void> {
  await withClient(settings, credentials, async (ask) => {
    const removed = await ask({ method: 'DELETE', path: pathOf(id) });
    if (!isDone(removed) && removed.status !== 404) throw problemOf(removed);
  });
}

async function getDomain(ask: SendRequest, id: string): Promise<ProviderDomain | null> {
  const answer = await ask({ method: 'GET', path: pathOf(id) });
  if (answer.status === 404) return null;
  if (!isDone(answer)) throw problemOf(answer);
  return readDomain(answer.json);
}

async function findDomain(ask: SendRequest, name: string): Promise<string | null> {
  let after = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await ask({ method: 'GET', path: `/domains?limit=${PAGE}${after}` });
    if (!isDone(answer)) throw problemOf(answer);
    const { data, has_more: more } = isRecord(answer.json) ? answer.json : {};
    if (!Array.isArray(data)) throw notUnderstood();
    const domains = data.filter(isRecord);
    const id = domains.find((domain) => sameName(domain['name'], name))?.['id'];
    if (typeof id === 'string') return id;
    const last = domains.at(-1)?.['id'];
    if (more !== true || typeof last !== 'string') return null;
    after = `&after=${encodeURIComponent(last)}`;
  }
  return null;
}

const sameName = (given: unknown, name: string): boolean =>
  typeof given === 'string' && given.toLowerCase() === name.toLowerCase();

function pathOf(id: string): string {
  if (!DOMAIN_ID.test(id)) throw new DomainProblem('this is no id of a domain');
  return `/domains/${id}`;
}

const notUnderstood = (): DomainProblem => new DomainProblem('its answer was not understood');

// The status is `verified`, or `partially_…` when the domain is used for more than sending and one of the uses lacks records. Records for
// anything but sending are left out.
function readDomain(json: unknown): ProviderDomain {
  const { id, name, status, records: listed } = isRecord(json) ? json : {};
  if (typeof id !== 'string' || !DOMAIN_ID.test(id)) throw notUnderstood();
  if (typeof name !== 'string' || !Array.isArray(listed) || listed.length > RECORDS_MAX)
    throw notUnderstood();
  const records = listed.map((record) => readRecord(record, name)).filter((record) => record !== null);
  if (records.length === 0) throw notUnderstood();
  const sends = records.every(({ seen }) => seen);
  const partly = status === 'partially_verified' || status === 'partially_failed';
  const verified = status === 'verified' || status === TEMPORARY_FAILURE || (partly && sends);
  return { id, verified, records };
}

function readRecord(json: unknown, domain: string): SeenRecord | null {
  if (!isRecord(json)) return null;
  const { record, type, value: written } = json;
  if (type !== 'TXT' && type !== 'MX' && type !== 'CNAME') return null;
  if (typeof written !== 'string' || written === '' || written.length > VALUE_MAX) return null;
  const name = nameOf(record, json['name'], domain);
  if (name === null) return null;
  return {
    type,
    name,
    value: type === 'TXT' ? written.replace(/^"(.*)"$/, '$1') : written.replace(/\.$/, ''),
    priority: type === 'MX' ? priorityOf(json['priority']) : null,
    purpose: record === 'DKIM' ? 'dkim' : type === 'TXT' ? 'spf' : 'return_path',
    seen: json['status'] === 'verified',
  };
}

// The full name of a record. The provider writes it relative to a zone that only it knows: `send.news` for `news.sklep.example`. One label
// precedes the domain, or two with `_domainkey`.
function nameOf(record: unknown, written: unknown, domain: string): string | null {
  if (typeof written !== 'string') return null;
  const [first = '', second] = written.split('.', 2);
  if (!LABEL.test(first)) return null;
  if (record === 'SPF') return `${first}.${domain}`.toLowerCase();
  if (record === 'DKIM' && second === '_domainkey') return `${first}._domainkey.${domain}`.toLowerCase();
  return null;
}

function priorityOf(priority: unknown): number {
  const number = Number(priority ?? NaN);
  return Number.isInteger(number) && number >= 0 && number <= 65_535 ? number : 10;
}

/**
 * Removes an address from the suppression list (https://resend.com/docs/api-reference/suppressions/remove-suppression), if listed; `awaitRateLimit`
 * is awaited before each request. Resolves to a problem, for staff and without the address, or null.
 */
export async function removeSuppression(
  settings: ResendSettings,
  credentials: ResendCredentials,
  address: string,
  awaitRateLimit: AwaitRateLimit,
): Promise<string | null> {
  const path = `/suppressions/${encodeURIComponent(address)}`;
  try {
    const removed = await withClient(
      settings,
      credentials,
      (ask) => ask({ method: 'DELETE', path }),
      awaitRateLimit,
    );
    if (isDone(removed) || removed.status === 404) return null;
    return describeCode(codeOf(removed.status, removed.json));
  } catch (error) {
    if (error instanceof DomainProblem) return error.message;
    throw error;
  }
}
