import { describe, expect, test } from 'vitest';
import { cancelMessagesOfClosedAccount, cancelMessageOfClosedAccount } from '../../db/accounts/accounts.ts';
import { newId } from '../../db/ids.ts';
import {
  expireMessage,
  failSubmission,
  giveUpUnanswered,
  rejectBlacklisted,
} from '../../db/messages/endings.ts';
import { cancelScheduled } from '../../db/money/billing.ts';
import { fileDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const COST = 45;
const RECIPIENT = '+48500100200';
const { sql } = await fileDatabase();

interface Paid {
  status: string;
  submission?: string;
  account?: 'active' | 'closed';
}

/** An account that has paid for one message, all its money. */
async function paidMessage({ status, submission = 'waiting', account = 'active' }: Paid) {
  const [owner, id] = [newId('cl'), newId('msg')];
  await sql`insert into accounts (id, name, mode) values (${owner}, 'A', 'live')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${owner}, 'opening', ${COST})`;
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route, submission)
    values (${id}, ${owner}, ${newId('req')}, ${status}, 'queued', ${RECIPIENT}, 'x', 1, ${COST}, now(), 'r', ${submission})`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id) values (${owner}, 'charge', ${-COST}, 'message', ${id})`;
  await sql`update accounts set status = ${account} where id = ${owner}`;
  return { owner, id };
}

async function booksOf(owner: string) {
  const [books] = await sql`
    select a.balance_grosze as balance, count(l.id)::int as refunds
      from accounts a left join ledger_entries l on l.account_id = a.id and l.kind = 'refund'
     where a.id = ${owner} group by a.id`;
  return books;
}

type Ending = (id: string, owner: string) => Promise<unknown>;
const ENDINGS: Record<string, [Paid, Ending]> = {
  'cancelled before its time': [{ status: 'scheduled' }, (id) => cancelScheduled(sql, id)],
  'refused by its route': [
    { status: 'queued', submission: 'submitting' },
    (id) => failSubmission(sql, { messageId: id, parts: [1] }, 'network_refused', null),
  ],
  'given up unanswered': [{ status: 'queued', submission: 'unanswered' }, (id) => giveUpUnanswered(sql, id)],
  'over without a submit': [{ status: 'queued' }, (id) => expireMessage(sql, id)],
  'over before its time came': [{ status: 'scheduled' }, (id) => expireMessage(sql, id)],
  'on the blacklist at its submit': [
    { status: 'queued' },
    async (id, owner) => {
      await sql`insert into blacklist (account_id, msisdn) values (${owner}, ${RECIPIENT}) on conflict do nothing`;
      await rejectBlacklisted(sql, id);
    },
  ],
  'of a closed account, scheduled': [
    { status: 'scheduled', account: 'closed' },
    (_, owner) => cancelMessagesOfClosedAccount(sql, owner, 'scheduled', '', 10),
  ],
  'of a closed account, queued': [
    { status: 'queued', account: 'closed' },
    (_, owner) => cancelMessagesOfClosedAccount(sql, owner, 'queued', '', 10),
  ],
  'of a closed account, by its own workflow': [
    { status: 'queued', account: 'closed' },
    (id) => cancelMessageOfClosedAccount(sql, id),
  ],
};

test.each(Object.entries(ENDINGS))('a message %s is refunded, once', async (_, [paid, end]) => {
  const { owner, id } = await paidMessage(paid);
  for (let times = 0; times < 2; times += 1) {
    await end(id, owner);
    expect(await booksOf(owner)).toEqual({ balance: COST, refunds: 1 });
  }
});

describe('whoever ends a message that others have locked', () => {
  const ends: Record<string, (id: string) => Promise<unknown>> = {
    'as its time is over': (id) => expireMessage(sql, id),
    'as its route refuses it': (id) =>
      failSubmission(sql, { messageId: id, parts: [1] }, 'network_refused', null),
    'as staff give it up': (id) => giveUpUnanswered(sql, id),
    'as its recipient opted out': (id) => rejectBlacklisted(sql, id),
  };

  test.each(Object.entries(ends))('%s, learns what they made of it, with its events', async (_, end) => {
    const { owner, id } = await paidMessage({ status: 'queued', submission: 'submitting' });
    await sql`update accounts set webhook_url = 'https://klient.example/' where id = ${owner}`;
    await sql`insert into message_parts (message_id, part, state, route) values (${id}, 1, 'submitting', 'r')`;
    let ended: Promise<unknown> | undefined;
    const event = newId('evt');
    await sql.begin(async (tx) => {
      await tx`update messages set status = 'sent', submission = 'answered' where id = ${id}`;
      await tx`update messages set status = 'delivered' where id = ${id}`;
      await tx`
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
        values (${event}, ${owner}, 'message', ${id}, 'message.delivered', '{}')`;
      const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      ended = end(id);
      await eventually(
        async () => (await sql`select from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`).count,
        (waiting) => waiting > 0,
      );
    });
    expect(await ended).toEqual({ status: 'delivered', events: [event] });
    expect(await booksOf(owner)).toEqual({ balance: 0, refunds: 0 });
  });
});

const KEPT: Record<string, [Paid, Ending]> = {
  'was sent and had no report in time': [
    { status: 'sent', submission: 'answered' },
    (id) => expireMessage(sql, id),
  ],
  'was left unanswered to its end': [
    { status: 'queued', submission: 'unanswered' },
    (id) => expireMessage(sql, id),
  ],
  'was under way at its end': [
    { status: 'queued', submission: 'submitting' },
    (id) => expireMessage(sql, id),
  ],
  'a network may have, of a closed account': [
    { status: 'queued', submission: 'unanswered', account: 'closed' },
    async (id, owner) => {
      await cancelMessagesOfClosedAccount(sql, owner, 'queued', '', 10);
      await cancelMessageOfClosedAccount(sql, id);
    },
  ],
  'is of an account that is active': [
    { status: 'queued' },
    async (id, owner) => {
      await cancelMessagesOfClosedAccount(sql, owner, 'queued', '', 10);
      await cancelMessageOfClosedAccount(sql, id);
    },
  ],
};

test.each(Object.entries(KEPT))('a message that %s is not', async (_, [paid, end]) => {
  const { owner, id } = await paidMessage(paid);
  await end(id, owner);
  expect(await booksOf(owner)).toEqual({ balance: 0, refunds: 0 });
});
