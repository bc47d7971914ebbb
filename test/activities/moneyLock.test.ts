import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { emailBillingActivities } from '../../activities/email.ts';
import { lookupBillingActivities } from '../../activities/lookup.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { ownDatabase } from '../admin/support.ts';
import { insertDomain } from '../support/email.ts';
import { inTime } from '../support/inTime.ts';
import { emailDraft } from '../workflows/emails.ts';

const database = ownDatabase();
const sql = () => database.sql();
const CHARGES = 6;

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

test.each([
  ['e-mails', ofEmails, { accepted: true }],
  ['look-ups', ofLookups, { state: 'charged', reason: null }],
])(
  'an account whose money is locked keeps few connections waiting with its charges of %s',
  async (_, chargesOf, charged) => {
    const account = await fundedAccount();
    // One more than may wait: without a bound they would all wait.
    const pool = openDatabase(database.url(), 3);
    try {
      const charges = await chargesOf(pool, account);
      const charging = await sql().begin(async (own) => {
        await own`select from accounts where id = ${account} for no key update`;
        const begun = charges.map((charge) => charge());
        // Each has tried once by now.
        await delay(600);
        expect(await inTime(800, pool`select 1`)).toBe(true);
        return { begun };
      });
      expect(await Promise.all(charging.begun)).toEqual(Array(CHARGES).fill(charged));
    } finally {
      await pool.end({ timeout: 1 });
    }
  },
);
