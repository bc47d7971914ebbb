import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cancelScheduled } from '../../db/money/billing.ts';
import { blacklistForOptOut, extendBlacklist, removeFromBlacklist } from '../../db/incoming/blacklist.ts';
import { type Sql, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { settleReply } from '../../db/incoming/inbound.ts';
import { countClicks } from '../../db/links/links.ts';
import { carryLinks } from '../support/carriedLinks.ts';
import { fileDatabase } from '../support/database.ts';
import { asDatabase } from '../support/nested.ts';

const PHONES = ['+48500100201', '+48500100202', '+48500100203'];
const MESSAGES = 9;

const { sql } = await fileDatabase();

interface Sent {
  account: string;
  messages: string[];
  tokens: string[];
}

/** An account that has planned one message and sent two to each phone, each with the phone's link. */
async function newSent(): Promise<Sent> {
  const account = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${account}, 'Effects', 'live')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'opening', 1000)`;
  const tokens = PHONES.map((_, i) => `${account}-${i}`);
  const messages: string[] = [];
  for (let i = 0; i < MESSAGES; i += 1) {
    const [id, phone] = [newId('msg'), i % PHONES.length];
    const planned = i < PHONES.length;
    messages.push(id);
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at,
                            route, country, send_at, created_at)
      values (${id}, ${account}, ${id}, ${planned ? 'scheduled' : 'delivered'}, 'queued', ${PHONES[phone]!}, 'x', 1, 10, now(),
              'simulator', 'PL', ${planned ? new Date(Date.now() + 3_600_000) : null}, now() - interval '1 hour')`;
    await sql`
      insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id) values (${account}, 'charge', -10, 'message', ${id})`;
    await sql`
      insert into tracked_links (token, account_id, recipient, url)
      values (${tokens[phone]!}, ${account}, ${PHONES[phone]!}, 'https://example.com/') on conflict do nothing`;
    await carryLinks(sql, [id], [tokens[phone]!]);
  }
  return { account, messages, tokens };
}

type Happening = (on: Sql, sent: Sent) => Promise<unknown>;
const phone = fc.nat({ max: PHONES.length - 1 });
const message = fc.nat({ max: MESSAGES - 1 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.tuple(phone, fc.boolean()).map(
    ([i, robot]): Happening =>
      (on, { tokens }) =>
        // Where others have the link locked it is not counted.
        countClicks(on, [{ token: tokens[i]!, userAgent: null, ipHash: null, robot }]),
  ),
  fc
    .tuple(fc.option(message, { freq: 5 }), fc.boolean())
    .map(([i, optOut]): Happening => async (on, { account, messages }) => {
      const [id, replyTo] = [newId('in'), i === null ? null : messages[i]!];
      await on`
        insert into inbound_messages (id, route, provider_reference, sender, received_text)
        values (${id}, 'simulator', ${id}, ${PHONES[0]!}, 'x')`;
      const matchedBy = replyTo === null ? 'prefix' : 'last_message';
      await settleReply(on, id, { accountId: account, text: 'x', matchedBy, replyTo, optOut });
    }),
  phone.map(
    (i): Happening =>
      (on, { account }) =>
        blacklistForOptOut(on, account, PHONES[i]!),
  ),
  fc.tuple(phone, fc.constantFrom('opt_out', 'complaint')).map(
    ([i, reason]): Happening =>
      (on, { account }) =>
        extendBlacklist(asDatabase(on), account, [PHONES[i]!], reason, null),
  ),
  phone.map(
    (i): Happening =>
      (on, { account }) =>
        removeFromBlacklist(on, account, PHONES[i]!),
  ),
  phone.map(
    (i): Happening =>
      (on, { messages }) =>
        cancelScheduled(on, messages[i]!),
  ),
);

/** What is counted beside each message, and what a count over everything that happened says. */
async function bothCounts(account: string): Promise<{ counted: unknown[]; expected: unknown[] }> {
  const counted = await sql`
    select m.id, e.refunded_grosze, coalesce(e.clicks, 0) as clicks, coalesce(e.robot_clicks, 0) as robot_clicks,
           coalesce(e.replies, 0) as replies, coalesce(e.stops, 0) as stops,
           coalesce(e.page_opt_outs, 0) as page_opt_outs
      from messages m left join message_effects e
        on (e.account_id, e.created_at, e.message_id) = (m.account_id, m.created_at, m.id)
     where m.account_id = ${account} order by m.id`;
  const expected = await sql`
    select m.id,
           (select amount_grosze::int from ledger_entries where subject_id = m.id and kind = 'refund') as refunded_grosze,
           (select count(*)::int from link_clicks c where c.message_id = m.id) as clicks,
           (select count(*)::int from link_clicks c where c.message_id = m.id and robot) as robot_clicks,
           (select count(*)::int from inbound_messages where reply_to = m.id) as replies,
           (select count(*)::int from inbound_messages where reply_to = m.id and opt_out) as stops,
           (select count(*)::int from blacklist b where b.message_id = m.id and reason = 'opt_out') as page_opt_outs
      from messages m where m.account_id = ${account} order by m.id`;
  return { counted: [...counted], expected: [...expected] };
}

async function expectExact({ account }: Sent): Promise<void> {
  const { counted, expected } = await bothCounts(account);
  expect(counted).toEqual(expected);
}

describe('what came of messages is counted beside them', () => {
  test('whatever happens, at once or undone', async () => {
    const step = fc.record({ does: happening, undone: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const sent = await newSent();
        await Promise.all(steps.map(async ({ does, undone }) => await attempt(sent, does, undone)));
        await expectExact(sent);
      }),
      { numRuns: 15 },
    );
  });

  test('an opt-out that is listed again belongs to the message before it, once', async () => {
    const sent = await newSent();
    const listed = async () => {
      const [row] = await sql<{ messageId: string }[]>`
        select message_id from blacklist where account_id = ${sent.account}`;
      return row!.messageId;
    };
    await blacklistForOptOut(sql, sent.account, PHONES[0]!);
    expect(await listed()).toBe(sent.messages[6]);
    await sql`update messages set send_at = now() - interval '1 minute' where id = ${sent.messages[3]!}`;
    await blacklistForOptOut(sql, sent.account, PHONES[0]!);
    expect(await listed()).toBe(sent.messages[6]);
    await extendBlacklist(sql, sent.account, [PHONES[0]!], 'complaint', null);
    expect(await listed()).toBeNull();
    await blacklistForOptOut(sql, sent.account, PHONES[0]!);
    expect(await listed()).toBe(sent.messages[3]);
    await expectExact(sent);
  });
});

describe('a message that waits, as no network was given it,', () => {
  /** The last message to the first phone, which waits, and the one before it. */
  const withWaiting = async () => {
    const sent = await newSent();
    const last = sent.messages[6]!;
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at,
                            route, created_at)
      select 'z' || id, account_id, request_id, 'queued', accepted_as, recipient, text, parts, cost_grosze, give_up_at,
             route, now() - interval '1 minute' from messages where id = ${last}`;
    await carryLinks(sql, [`z${last}`], [sent.tokens[0]!]);
    return { sent, last, waiting: `z${last}` };
  };

  test('made nobody opt out', async () => {
    const { sent, last, waiting } = await withWaiting();
    const listed = async () => {
      await removeFromBlacklist(sql, sent.account, PHONES[0]!);
      await blacklistForOptOut(sql, sent.account, PHONES[0]!);
      const [row] = await sql<{ messageId: string }[]>`
        select message_id from blacklist where account_id = ${sent.account}`;
      return row!.messageId;
    };
    expect(await listed()).toBe(last);
    await sql`update messages set submission = 'submitting' where id = ${waiting}`;
    expect(await listed()).toBe(waiting);
    await expectExact(sent);
  });
});

/** In a transaction of its own, that is rolled back if it is to be undone. */
async function attempt(sent: Sent, does: Happening, undone: boolean): Promise<void> {
  const regret = new Error('undone');
  await transaction(sql, async (tx) => {
    await does(tx, sent);
    if (undone) throw regret;
  }).catch((error: unknown) => {
    if (error !== regret) throw error;
  });
}
