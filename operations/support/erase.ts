import { setTimeout as delay } from 'node:timers/promises';
import { byColumnName } from '../../db/columnNames.ts';
import {
  type Addressee,
  countAddressTraces,
  eraseAddressee,
  forgetEmailStatistics,
} from '../../db/emails/retention.ts';
import { withdrawEmails } from '../../db/emails/withdrawals.ts';
import {
  countTraces,
  erasePerson,
  forgetStatistics,
  type Left,
  type Person,
  scheduledTo,
  type Traces,
  undecided,
} from '../../db/maintenance/erasure.ts';
import { ERASED_ADDRESS } from '../../domain/email/address.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { findAccount } from '../accounts/find.ts';
import { startCancelled } from '../cancel.ts';
import { recordedAfter, type StaffServices } from '../staff.ts';

const SIGNAL_MS = 5_000;
const SETTLED_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 100;

interface Input {
  /** E.164. */
  msisdn: string;
  /** Null: of all. */
  account: string | null;
  /** Else nothing is done, and it only answers how much there is. */
  agreed: boolean;
}

/** How much there was of a person, and what was done. */
export interface Erasure {
  traces: Traces;
  /** Scheduled messages that were cancelled, and what is left for later; null where nothing was done. */
  done: { cancelled: number; open: Open } | null;
}

/** What is left for later, as the answer and the audit log name it. */
export type Open = Record<`open_${keyof Left}`, number>;

/**
 * Erases what is stored about one phone number, on its owner's request; its blacklist entries stay, and its scheduled messages are
 * cancelled.
 * @throws StaffRefused account_missing
 */
export const erase = recordedAfter('erase', async (services, { msisdn, account, agreed }: Input) => {
  const { sql } = services;
  if (account !== null) await findAccount(sql, account);
  const person: Person = { msisdn, accountId: account };
  const traces = await countTraces(sql, person);
  const record = { subject: maskMsisdn(msisdn), ...(account === null ? {} : { account }) };
  if (!agreed) {
    const data: Erasure = { traces, done: null };
    return { data, ...record, details: { erased: false } };
  }
  const cancelled = await cancelScheduled(services, person);
  await untilDecided(sql, person);
  const { messages, replies, lookups } = await erasePerson(sql, person, maskMsisdn);
  await forgetStatistics(sql);
  const open: Open = { open_messages: messages, open_replies: replies, open_lookups: lookups };
  const data: Erasure = { traces, done: { cancelled, open } };
  return { data, ...record, details: { erased: true, ...traces, cancelled, ...open } };
});

/** How much there was of an address, and what was done. */
export interface AddressErasure {
  traces: Traces;
  /** E-mails that waited for a provider and were given up, and those that are left as one may have them; null where nothing was done. */
  done: { givenUp: number; left: number } | null;
}

/**
 * Erases what is stored about one e-mail address, on its owner's request; its entries of suppression lists stay, and contacts, which
 * are erased by their number. E-mails that no provider was given yet are given up, as scheduled messages are cancelled.
 * @throws StaffRefused account_missing
 */
export const eraseAddress = recordedAfter(
  'erase',
  async ({ sql }, input: { address: string; account: string | null; agreed: boolean }) => {
    const { address, account, agreed } = input;
    if (account !== null) await findAccount(sql, account);
    const addressee: Addressee = { address, accountId: account };
    const traces = byColumnName(await countAddressTraces(sql, addressee));
    const record = { subject: ERASED_ADDRESS, ...(account === null ? {} : { account }) };
    if (!agreed) {
      const data: AddressErasure = { traces, done: null };
      return { data, ...record, details: { erased: false } };
    }
    const givenUp = await withdrawEmails(sql, addressee);
    const left = await eraseAddressee(sql, addressee);
    await forgetEmailStatistics(sql);
    const data: AddressErasure = { traces, done: { givenUp, left } };
    return { data, ...record, details: { erased: true, ...traces, given_up: givenUp, open_emails: left } };
  },
);

/** Has the workflows of scheduled messages cancel them, and waits until they have; returns how many did. */
async function cancelScheduled(services: StaffServices, person: Person): Promise<number> {
  const { sql } = services;
  const scheduled = await scheduledTo(sql, person);
  for (const { id, accountId } of scheduled)
    await startCancelled(services, accountId, id, Date.now() + SIGNAL_MS);
  if (scheduled.length === 0) return 0;
  const left = await settled(
    () => scheduledTo(sql, person),
    (still) => still.length === 0,
  );
  return scheduled.length - left.length;
}

/** Waits for the workers to find out whose replies are, and for look-ups under way to be answered. */
async function untilDecided(sql: StaffServices['sql'], person: Person): Promise<void> {
  await settled(
    () => undecided(sql, person),
    ({ replies, lookups }) => replies + lookups === 0,
  );
}

/** Reads until it is as it should be, but not for ever; returns what it read last. */
async function settled<T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  let value = await read();
  while (!is(value) && Date.now() < deadline) {
    await delay(LOOK_AGAIN_MS);
    value = await read();
  }
  return value;
}
