import { setTimeout as delay } from 'node:timers/promises';
import { byColumnName, type Database } from '../../db/connection.ts';
import {
  type Addressee,
  countAddressTraces,
  eraseAddressee,
  refreshEmailStatistics,
} from '../../db/emails/retention.ts';
import { withdrawEmails } from '../../db/emails/withdrawals.ts';
import {
  countTraces,
  erasePerson,
  refreshStatistics,
  type Person,
  scheduledTo,
  type Traces,
  undecided,
} from '../../db/maintenance/erasure.ts';
import { ERASED_ADDRESS } from '../../domain/email/address.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { findAccount } from '../accounts/accounts.ts';
import { signalCancelWithStart } from '../cancel.ts';
import { recordedAfter, type StaffServices } from '../staff.ts';

const SIGNAL_MS = 5_000;
const SETTLED_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 100;

interface Extent {
  account: string | null;
  /** False: dry run, which only counts. */
  agreed: boolean;
}

/** Counts of what was done or left for later, by their names in the output and audit log. */
export type Done = Partial<
  Record<'cancelled' | 'open_messages' | 'open_replies' | 'open_lookups' | 'given_up' | 'open_emails', number>
>;

/**
 * Erases the data of a phone number (E.164) at its owner's request and cancels its scheduled messages. Blacklist entries remain.
 * @throws StaffRefused account_missing
 */
export const erase = recordedAfter(
  'erase',
  async (services, { msisdn, account, agreed }: Extent & { msisdn: string }) => {
    if (account !== null) await findAccount(services.sql, account);
    const person: Person = { msisdn, accountId: account };
    const traces = await countTraces(services.sql, person);
    return recordOf(maskMsisdn(msisdn), account, traces, agreed ? await eraseNow(services, person) : null);
  },
);

async function eraseNow(services: StaffServices, person: Person): Promise<Done> {
  const { sql } = services;
  const cancelled = await cancelScheduled(services, person);
  await untilDecided(sql, person);
  const { messages, replies, lookups } = await erasePerson(sql, person, maskMsisdn);
  await refreshStatistics(sql);
  return { cancelled, open_messages: messages, open_replies: replies, open_lookups: lookups };
}

/**
 * Erases the data of an e-mail address at its owner's request and gives up its unsubmitted e-mails. Suppressions and contacts remain.
 * @throws StaffRefused account_missing
 */
export const eraseAddress = recordedAfter(
  'erase',
  async ({ sql }, { address, account, agreed }: Extent & { address: string }) => {
    if (account !== null) await findAccount(sql, account);
    const addressee: Addressee = { address, accountId: account };
    const traces = byColumnName(await countAddressTraces(sql, addressee));
    return recordOf(ERASED_ADDRESS, account, traces, agreed ? await eraseAddressNow(sql, addressee) : null);
  },
);

async function eraseAddressNow(sql: Database, addressee: Addressee): Promise<Done> {
  const givenUp = await withdrawEmails(sql, addressee);
  const left = await eraseAddressee(sql, addressee);
  await refreshEmailStatistics(sql);
  return { given_up: givenUp, open_emails: left };
}

function recordOf(subject: string, account: string | null, traces: Traces, done: Done | null) {
  const details = done === null ? { erased: false } : { erased: true, ...traces, ...done };
  return { data: { traces, done }, account, subject, details };
}

async function cancelScheduled(services: StaffServices, person: Person): Promise<number> {
  const { sql } = services;
  const scheduled = await scheduledTo(sql, person);
  for (const { id, accountId } of scheduled)
    await signalCancelWithStart(services, accountId, id, Date.now() + SIGNAL_MS);
  if (scheduled.length === 0) return 0;
  const left = await settled(
    () => scheduledTo(sql, person),
    (still) => still.length === 0,
  );
  return scheduled.length - left.length;
}

/** Waits until workers have assigned pending replies to accounts and pending lookups have ended. */
async function untilDecided(sql: Database, person: Person): Promise<void> {
  await settled(
    () => undecided(sql, person),
    ({ replies, lookups }) => replies + lookups === 0,
  );
}

async function settled<T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  let value = await read();
  while (!is(value) && Date.now() < deadline) {
    await delay(LOOK_AGAIN_MS);
    value = await read();
  }
  return value;
}
