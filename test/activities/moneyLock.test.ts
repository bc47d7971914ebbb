import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { emailBillingActivities } from '../../activities/email.ts';
import { lookupBillingActivities } from '../../activities/lookup.ts';
import { type Database, hasSqlState, openDatabase, SQLSTATE } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { ownDatabase } from '../admin/support.ts';
import { insertDomain } from '../support/email.ts';
import { eventually } from '../support/eventually.ts';
import { emailDraft } from '../workflows/emails.ts';

const database = ownDatabase();
const sql = () => database.sql();
const CHARGES = 6;
const MAY_WAIT = 2;
const LOOKS = 5;

async function fundedAccount(): Promise<string> {
  const account = newId('cl');
  await sql()`insert into routes (name, kind) values ('simulator', 'simulator') on conflict do nothing`;
  await sql()`insert into accounts (id, name, mode) values (${account}, 'Test', 'live')`;
  await sql()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'opening', 1000)`;
  await insertDomain(sql(), randomBytes(32), account);
  return account;
}

/** Charges of an account's e-mails or look-ups, each still to be begun. */
type Charges = (of: Database, account: string) => Promise<(() => Promise<unknown>)[]>;

const ofEmails: Charges = async (of, account) => {
  const { chargeEmail } = emailBillingActivities(of);
  const charges = [];
  for (let count = 0; count < CHARGES; count += 1) {
    const { requestId } = await emailDraft({ sql: sql(), now: () => Promise.resolve(Date.now()) }, account);
    charges.push(() => chargeEmail(requestId));
  }
  return charges;
};

const ofLookups: Charges = async (of, account) => {
  const { chargeLookup } = lookupBillingActivities(of);
  const charges = [];
  for (let count = 0; count < CHARGES; count += 1) {
    const id = newId('hlr');
    await sql()`
      insert into number_lookups (id, account_id, msisdn, cost_grosze)
      values (${id}, ${account}, ${`+4850010020${count}`}, 5)`;
    charges.push(() => chargeLookup(id));
  }
  return charges;
};

/** As Temporal does with an attempt that waited too long for the lock. */
async function repeated(charge: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      return await charge();
    } catch (error) {
      const waited = hasSqlState(error, SQLSTATE.lockNotAvailable) || String(error).includes('the same lock');
      if (!waited) throw error;
    }
  }
}

test.each([
  ['e-mails', ofEmails, { accepted: true }],
  ['look-ups', ofLookups, { state: 'charged', reason: null }],
])(
  'an account whose money is locked keeps few connections waiting with its charges of %s',
  async (_, chargesOf, charged) => {
    const account = await fundedAccount();
    const pool = openDatabase(database.url(), CHARGES);
    try {
      const charges = await chargesOf(pool, account);
      const charging = await sql().begin(async (own) => {
        await own`select from accounts where id = ${account} for no key update`;
        const [{ pid } = { pid: 0 }] = await own<{ pid: number }[]>`select pg_backend_pid() as pid`;
        const waiting = async () =>
          (await sql()`select from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`).count;
        const begun = charges.map(repeated);
        // Each has waited for a moment; from then on no more than these, although there are connections for all.
        let few = 0;
        const looks = async (): Promise<number> => {
          const count = await waiting();
          return (few = count > 0 && count <= MAY_WAIT ? few + 1 : 0);
        };
        await eventually(looks, (count) => count === LOOKS);
        return { begun };
      });
      expect(await Promise.all(charging.begun)).toEqual(Array(CHARGES).fill(charged));
    } finally {
      await pool.end({ timeout: 1 });
    }
  },
);
