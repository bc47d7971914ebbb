import { Writable } from 'node:stream';
import pino from 'pino';
import { createHash, randomBytes } from 'node:crypto';
import type { RunningApi } from '../../api/server.ts';
import type { ApiSettings } from '../../api/services.ts';
import { newId } from '../../db/ids.ts';
import type { Role } from '../../domain/actor.ts';
import { giveDomain } from './email.ts';
import { eventually } from './eventually.ts';
import { database, newAccount } from './factories.ts';
import { startOwnApi } from './ownApi.ts';

export const PANEL_URL = 'https://panel.example';

/** An API whose panel is open, and what it logs. */
export interface PanelUnderTest {
  api: RunningApi;
  log: string[];
}

/**
 * Starts an API whose panel sends its e-mails and codes from an account of its own, through the simulated network.
 * @param publicUrl null: only this machine reaches it
 * @returns also that account, the house
 */
export async function startPanel(
  config: Partial<ApiSettings> = {},
  publicUrl: string | null = PANEL_URL,
): Promise<PanelUnderTest & { house: string }> {
  const house = await newAccount({ balance: 100_000 });
  await giveDomain(house.id);
  const log: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.push(chunk.toString());
      done();
    },
  });
  const api = await startOwnApi({
    // No DNS server answers there.
    config: { OWN_EMAIL_ACCOUNT: house.id, TRUST_PROXY: true, DNS_SERVERS: ['127.0.0.1:9'], ...config },
    ...(publicUrl === null ? {} : { publicUrl }),
    log: pino({ level: 'trace' }, stream),
  });
  return { api, log, house: house.id };
}

/** A network of a test's own, as limits count it. */
export function newNetwork(): string {
  const [a, b, c] = randomBytes(3);
  return `10.${a}.${b}.${c}`;
}

export const newAddress = (): string => `${randomBytes(8).toString('hex')}@klient.example`;

/** An answer of the panel. */
export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  /** Where a redirection leads; null: it is none. */
  to: string | null;
}

interface Sent {
  form?: Record<string, string>;
  /** Instead of a form. */
  body?: FormData | string;
  headers?: Record<string, string>;
}

/** A browser without JavaScript: it keeps cookies, and says that forms are of the page's own site. */
export interface Browser {
  cookies: Map<string, string>;
  network: string;
  get(path: string, headers?: Record<string, string>): Promise<Seen>;
  post(path: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Seen>;
  ask(method: string, path: string, sent?: Sent): Promise<Seen>;
}

export const SESSION = '__Host-goniec_session';
export const BROWSER = '__Host-goniec_browser';

/** Opens a browser on a machine of its own. */
export function newBrowser({ api: { port } }: PanelUnderTest, network = newNetwork()): Browser {
  const cookies = new Map<string, string>();
  const ask = async (method: string, path: string, { form, body, headers }: Sent = {}): Promise<Seen> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'x-forwarded-for': network,
        ...(cookies.size === 0
          ? {}
          : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...headers,
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      ...(body === undefined ? {} : { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      to: response.headers.get('location'),
    };
  };
  return {
    ...{ cookies, network, ask },
    get: (path, headers = {}) => ask('GET', path, { headers }),
    post: (path, form = {}, headers = { 'sec-fetch-site': 'same-origin' }) =>
      ask('POST', path, { form, headers }),
  };
}

/** What an e-mail to sign in holds. */
export interface SignInMail {
  subject: string;
  text: string;
  code: string;
  /** Path of the link. */
  link: string;
  token: string;
}

/** The e-mails that the simulated provider has taken for an address, once there are so many; the first one first. */
export async function mailsTo(address: string, count = 1): Promise<SignInMail[]> {
  const taken = () => database()<{ mail: { subject: string; text: string } }[]>`
    select s.mail from simulator_emails s join emails e on e.id = s.reference
     where s.mail->'to' ? ${address} order by e.id`;
  const rows = await eventually(taken, (found) => found.length >= count);
  return rows.map(({ mail: { subject, text } }) => {
    const [, code = ''] = /: (\d{6})$/m.exec(text) ?? [];
    const [link = '', token = ''] = /\/panel\/link\/([\w-]{43})$/m.exec(text) ?? [];
    return { subject, text, code, link, token };
  });
}

/** Asks for an e-mail to sign in, and takes it out of the mailbox, which may hold others. */
export async function askedBy(browser: Browser, address: string, form: object = {}): Promise<SignInMail> {
  const before = await database()`select from sign_ins where address = ${address}`;
  await browser.post('/panel', { address, ...form });
  const taken = async () => (await mailsTo(address)).filter(({ code }) => code !== '');
  return (await eventually(taken, (mails) => mails.length > before.count)).at(-1)!;
}

export interface Person {
  id: string;
  address: string;
  account: string;
  browser: Browser;
  session: string;
}

/** A person who has signed in, with a role in an account. */
export async function newPerson(panel: PanelUnderTest, role: Role, account?: string): Promise<Person> {
  const sql = database();
  const person = {
    id: newId('per'),
    address: newAddress(),
    account: account ?? (await newAccount({ mode: 'test' })).id,
  };
  await sql`insert into people (id, address) values (${person.id}, ${person.address})`;
  await sql`insert into memberships (person_id, account_id, role) values (${person.id}, ${person.account}, ${role})`;
  return { ...person, ...(await newSession(panel, person)) };
}

/** Another session of a person, who has proved the address alone. */
export async function newSession(panel: PanelUnderTest, { id, account }: Pick<Person, 'id' | 'account'>) {
  const browser = newBrowser(panel);
  const token = randomBytes(32).toString('base64url');
  const session = newId('ses');
  await database()`
    insert into sessions (id, token_hash, person_id, account_id, assurance, address)
    values (${session}, ${createHash('sha256').update(token).digest()}, ${id}, ${account}, 'address', '10.0.0.1')`;
  browser.cookies.set(SESSION, token);
  return { browser, session };
}
