import { createHash, randomBytes } from 'node:crypto';
import pino from 'pino';
import { inject } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { startConsole } from '../../bin/consoleServer.ts';
import { serviceTools } from '../../bin/admin/tools.ts';
import { newId } from '../../db/ids.ts';
import type { StaffRole } from '../../domain/staff.ts';
import { type Browser, newBrowser } from './panel.ts';
import { database } from './factories.ts';

export const COOKIE = 'goniec_console';

export interface ConsoleUnderTest {
  api: RunningApi;
}

/** A console of a test's own, on the servers of the service under test. @param url where staff reach it; only on this machine without one */
export async function openConsole(ownEmailAccount?: string, url?: string): Promise<ConsoleUnderTest> {
  const { databaseUrl, temporalAddress, temporalNamespace, secretsKey } = inject('service');
  const env = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: temporalNamespace,
    SECRETS_KEY: secretsKey,
  };
  const api = await startConsole({
    databaseUrl,
    databasePool: 4,
    temporal: { address: temporalAddress, namespace: temporalNamespace },
    config: {
      ...{ CONSOLE_HOST: '127.0.0.1', CONSOLE_URL: url, CONSOLE_SECOND_PERSON_GROSZE: 100_000 },
      ...{
        PORT: 3000,
        PUBLIC_URL: 'https://api.example',
        DEFAULT_SENDER: 'INFO',
        WEBHOOK_ALLOW_PRIVATE: true,
        TRUST_PROXY: true,
        SIMULATOR_PUBLIC: false,
      },
      ...{ REQUESTS_AT_ONCE: 100, HEAVY_REQUESTS_AT_ONCE: 4 },
      ...{ MCP_CONFIRM_RECIPIENTS: 10, MCP_CONFIRM_GROSZE: 500, NUMBER_CODES_A_DAY: 100 },
      ...{ SIGN_UP_EMAILS_A_DAY: 100_000, SIGN_IN_EMAILS_A_DAY: 100_000, OWN_EMAIL_ACCOUNT: ownEmailAccount },
    },
    secretsKey: Buffer.from(secretsKey, 'base64'),
    log: pino({ level: 'silent' }),
    port: 0,
    temporalUiUrl: 'http://127.0.0.1:8233',
    tools: serviceTools(env),
  });
  return { api };
}

export interface Colleague {
  name: string;
  address: string;
  browser: Browser;
}

/** One of staff, who has signed in and proved it. */
export async function newStaff(opened: ConsoleUnderTest, role: StaffRole): Promise<Colleague> {
  const sql = database();
  const tag = randomBytes(6).toString('hex');
  const staff = { id: newId('stf'), name: `Staff ${tag}`, address: `${tag}@staff.example` };
  const token = randomBytes(32).toString('base64url');
  await sql`
    insert into staff (id, address, name, role, totp_secret, added_by)
    values (${staff.id}, ${staff.address}, ${staff.name}, ${role}, ${Buffer.alloc(1)}, 'test')`;
  await sql`
    insert into staff_sessions (id, token_hash, staff_id, is_proved, address)
    values (${newId('ses')}, ${createHash('sha256').update(token).digest()}, ${staff.id}, true, '10.0.0.1')`;
  const browser = newBrowser(opened);
  browser.cookies.set(COOKIE, token);
  return { ...staff, browser };
}
