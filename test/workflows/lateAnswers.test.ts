import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { releaseClaim } from '../../activities/submission/storing.ts';
import { createOutcomeDispatcher } from '../../pipeline/outcomes.ts';
import { createDeliveryReports, type DeliveryReports } from '../../pipeline/deliveryReports.ts';
import type { Database } from '../../db/connection.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { acceptParts, concludeSubmission } from '../../db/messages/answers.ts';
import { expireMessage, failSubmission, rejectBlacklisted } from '../../db/messages/endings.ts';
import { claimParts, holdParts, leavePartsUnanswered, type PartsOf } from '../../db/messages/parts.ts';
import { reopenUnanswered, withdrawResubmit } from '../../db/messages/unanswered.ts';
import { startDatabase } from '../support/database.ts';
import { eventually, until } from '../support/eventually.ts';
import { writeMessage } from '../support/messages.ts';

const ROUTE = 'r';
const PHONE = '+48500100100';

let sql: Database;
let stop: () => Promise<void>;
let deliveryReports: DeliveryReports;
const told: string[] = [];
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values ('cl_a', 'opening', 1000000)`;
  const getHandle = (id: string) => ({ executeUpdate: () => Promise.resolve(told.push(id)) });
  const client = {
    workflow: { getHandle },
    withDeadline: <T>(_: number, call: () => Promise<T>) => call(),
  } as unknown as Client;
  deliveryReports = createDeliveryReports(
    sql,
    createOutcomeDispatcher(sql, client, (events) => Promise.resolve([...events]), console.error),
    console.error,
  );
});
afterAll(async () => {
  deliveryReports?.stop();
  await stop();
});

let count = 0;
async function message(states: string[], submission = 'unanswered', phone = PHONE): Promise<string> {
  count += 1;
  const id = `msg_${String(count).padStart(26, '0')}`;
  await writeMessage(sql, {
    ...{ id, status: 'queued', submission, route: ROUTE },
    ...{ recipient: phone, parts: states.length },
  });
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
    values ('cl_a', 'charge', -15, 'message', ${id})`;
  await sql`
    insert into message_parts (message_id, part, state, route, provider_message_id, submitted_at)
    select ${id}, part, state, ${ROUTE}, case when state = 'accepted' then ${id} end, now() - interval '1 minute'
      from unnest(${states}::text[]) with ordinality as s(state, part)`;
  return id;
}

const refunds = async (id: string): Promise<number> =>
  (await sql`select from ledger_entries where subject_id = ${id} and kind = 'refund'`).count;

async function optOut(): Promise<void> {
  await sql`insert into blacklist (account_id, msisdn) values ('cl_a', ${PHONE}) on conflict do nothing`;
  onTestFinished(async () => void (await sql`delete from blacklist where account_id = 'cl_a'`));
}

const somebodyWaitsFor = (pid: number) =>
  eventually(
    async () => (await sql`select from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`).count,
    (waiting) => waiting > 0,
  );

async function now(id: string): Promise<{ status: string; submission: string; states: string }> {
  const [row] = await sql<{ status: string; submission: string; states: string }[]>`
    select status, submission, (select string_agg(state, ', ' order by part) from message_parts
                                 where message_id = messages.id) as states
      from messages where id = ${id}`;
  return row!;
}

const report = (providerMessageId: string, state: 'enroute' | 'delivered', phone: string | null = null) => ({
  ...{ providerMessageId, reference: null, phone, state, errorCode: null },
});

const late = (
  id: string,
  part: number,
  answer: Parameters<DeliveryReports['receiveLateAnswer']>[2],
  arrivedAt = performance.now(),
) => deliveryReports.receiveLateAnswer(ROUTE, `${id}/${part}`, answer, arrivedAt);

async function claimed(of: PartsOf): Promise<string> {
  const claim = await claimParts(sql, { ...of, route: ROUTE });
  if (claim.state !== 'claimed') throw new Error(claim.state);
  return claim.at;
}
const throttled = { kind: 'throttled', retryAfterMs: 1000 } as const;

describe('late answers', () => {
  test('to several parts at once make the message sent', async () => {
    for (let i = 0; i < 20; i += 1) {
      const id = await message(['unanswered', 'unanswered', 'unanswered']);
      await Promise.all(
        [1, 2, 3].map((part) => late(id, part, { kind: 'accepted', providerMessageId: `${id}-${part}` })),
      );
      expect((await now(id)).status).toBe('sent');
    }
  });

  test('while another part is answered in time make it sent, too', async () => {
    for (let i = 0; i < 20; i += 1) {
      const id = await message(['unanswered', 'submitting'], 'submitting');
      await Promise.all([
        late(id, 1, { kind: 'accepted', providerMessageId: `${id}-1` }),
        acceptParts(sql, { messageId: id, parts: [2] }, `${id}-2`),
      ]);
      expect((await concludeSubmission(sql, id)).status).toBe('sent');
    }
  });

  test('before the time-out was noted count: not taken, it is to be submitted again', async () => {
    const id = await message(['submitting'], 'submitting');
    await late(id, 1, throttled);
    await leavePartsUnanswered(sql, { messageId: id, parts: [1] }, null);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'waiting', states: 'held' });
    expect((await concludeSubmission(sql, id)).status).toBe('queued');
  });

  test('leave the message under way while another part is on its way, and what is under way is not refunded', async () => {
    const id = await message(['unanswered', 'submitting'], 'submitting');
    await late(id, 1, throttled);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'submitting', states: 'held, submitting' });
    await acceptParts(sql, { messageId: id, parts: [2] }, `${id}-2`);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'submitting', states: 'held, accepted' });
    await optOut();
    expect((await rejectBlacklisted(sql, id)).status).toBe('queued');
    expect((await expireMessage(sql, id))?.status).toBe('expired');
    expect(await refunds(id)).toBe(0);
  });

  test('see what was claimed while they waited for the message', async () => {
    const id = await message(['held', 'held'], 'waiting');
    const first = { messageId: id, parts: [1] };
    const at = await claimed(first);
    let back: Promise<boolean> | undefined;
    await sql.begin(async (tx) => {
      await claimParts(tx, { messageId: id, parts: [2], route: ROUTE });
      const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      back = releaseClaim(sql, first, { state: 'claimed', at }, 'busy');
      await somebodyWaitsFor(pid);
    });
    expect(await back).toBe(true);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'submitting', states: 'held, submitting' });
  });

  test('of a message that waits although a part is on its way or taken: it is neither rejected nor refunded', async () => {
    await optOut();
    for (const part of ['submitting', 'unanswered', 'accepted']) {
      const id = await message(['held', part], 'waiting');
      expect((await rejectBlacklisted(sql, id)).status).toBe('queued');
      expect((await expireMessage(sql, id))?.status).toBe('expired');
      expect(await now(id)).toMatchObject({ status: 'expired', submission: 'unanswered' });
      expect(await refunds(id)).toBe(0);
    }
  });

  test('to the submit before the operator’s are no answer to the operator’s, unless it was taken', async () => {
    const id = await message(['unanswered']);
    expect(await reopenUnanswered(sql, id)).toBe(true);
    await claimed({ messageId: id, parts: [1] });
    await leavePartsUnanswered(sql, { messageId: id, parts: [1] }, null);
    await late(id, 1, throttled);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'unanswered', states: 'unanswered' });

    const other = await message(['unanswered']);
    await reopenUnanswered(sql, other);
    await late(other, 1, { kind: 'accepted', providerMessageId: 'taken-first' });
    expect((await now(other)).status).toBe('sent');
    expect(await claimParts(sql, { messageId: other, parts: [1], route: ROUTE })).toEqual({
      state: 'accepted',
    });
  });

  test('that are told once more are no answer to the submit that they led to', async () => {
    const id = await message(['unanswered']);
    const of = { messageId: id, parts: [1] };
    const arrivedAt = performance.now();
    await late(id, 1, throttled, arrivedAt);
    expect((await now(id)).states).toBe('held');
    await claimed(of);
    await late(id, 1, throttled, arrivedAt);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'submitting', states: 'submitting' });
    await leavePartsUnanswered(sql, of, null);
    await late(id, 1, throttled, arrivedAt);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'unanswered', states: 'unanswered' });
    await sql`update message_parts set submitted_at = submitted_at - interval '1 minute' where message_id = ${id}`;
    await late(id, 1, throttled);
    expect((await now(id)).states).toBe('held');
  });

  test('a refusal after the message was given up as unanswered tells its workflow', async () => {
    const id = await message(['unanswered']);
    await failSubmission(sql, { messageId: id, parts: [1] }, 'network_refused', null);
    await deliveryReports.catchUp();
    await until('its workflow is told', () => Promise.resolve(told.includes(id)));
  });
});

test('a refusal of an earlier submit says nothing of the one that staff had made since', async () => {
  const id = await message(['held'], 'submitting');
  const of = { messageId: id, parts: [1] };
  const first = await claimed(of);
  await leavePartsUnanswered(sql, of, null);
  expect(await reopenUnanswered(sql, id)).toBe(true);
  const refuse = (at: string) => failSubmission(sql, of, 'network_refused', 'no', at);
  expect((await refuse(first)).status).toBe('queued');
  expect((await now(id)).states).toBe('held');
  const second = await claimed(of);
  expect((await refuse(first)).status).toBe('queued');
  expect((await now(id)).states).toBe('submitting');
  expect(await refunds(id)).toBe(0);
  for (let times = 0; times < 2; times += 1) {
    expect((await refuse(second)).status).toBe('failed');
    expect(await refunds(id)).toBe(1);
  }
});

describe('a message whose time is over while it is submitted', () => {
  const over = { status: 'expired', submission: 'waiting' };

  /** A part that is on its way at the end of its message, beside others. */
  async function expired(others: string[] = []) {
    const id = await message(['held', ...others], 'submitting');
    const of = { messageId: id, parts: [1] };
    const at = await claimed(of);
    await expireMessage(sql, id);
    expect(await now(id)).toMatchObject({ status: 'expired', submission: 'unanswered' });
    expect(await refunds(id)).toBe(0);
    return { id, of, at };
  }

  const noes: Record<string, (late: Awaited<ReturnType<typeof expired>>) => Promise<unknown>> = {
    'that the SMSC puts off': ({ of, at }) => releaseClaim(sql, of, { state: 'claimed', at }, 'busy'),
    'that the SMSC refuses': ({ of }) => failSubmission(sql, of, 'network_refused', 'no'),
    'of which the SMSC says later that it has not taken it': ({ id }) => late(id, 1, throttled),
    'that counts as unanswered by then': async ({ of, at }) => {
      await leavePartsUnanswered(sql, of, null);
      await releaseClaim(sql, of, { state: 'claimed', at }, 'busy');
    },
  };

  test.each(Object.entries(noes))('%s is refunded, once', async (_, no) => {
    const at = await expired();
    for (let times = 0; times < 2; times += 1) {
      await no(at);
      expect(await now(at.id)).toMatchObject(over);
      expect(await refunds(at.id)).toBe(1);
    }
    // Its workflow is over, or comes to its end: nobody is to be notified.
    expect((await sql`select from outcome_signals where message_id = ${at.id}`).count).toBe(0);
  });

  test.each(Object.entries(noes))('%s is not, where the SMSC may have another part', async (_, no) => {
    for (const other of ['submitting', 'unanswered', 'accepted']) {
      const at = await expired([other]);
      await no(at);
      expect(await now(at.id)).toMatchObject({ status: 'expired', submission: 'unanswered' });
      expect(await refunds(at.id)).toBe(0);
    }
  });

  test.each(Object.entries(noes))('%s is not, where staff have had it submitted again', async (_, no) => {
    const at = await expired(['held']);
    await sql`update message_parts set resubmitted_at = now() where message_id = ${at.id} and part = 2`;
    await no(at);
    expect(await now(at.id)).toMatchObject({ status: 'expired', submission: 'unanswered' });
    expect(await refunds(at.id)).toBe(0);
  });

  test('is refunded once the last of its parts was not taken', async () => {
    const { id, of, at } = await expired(['unanswered']);
    await releaseClaim(sql, of, { state: 'claimed', at }, 'busy');
    expect(await refunds(id)).toBe(0);
    await late(id, 2, throttled);
    expect(await now(id)).toEqual({ ...over, states: 'held, held' });
    expect(await refunds(id)).toBe(1);
  });
});

describe('the operator’s word', () => {
  test('holds when its result was lost and it is carried out again', async () => {
    const id = await message(['unanswered', 'accepted']);
    expect(await reopenUnanswered(sql, id)).toBe(true);
    expect(await reopenUnanswered(sql, id)).toBe(true);
    expect((await now(id)).states).toBe('held, accepted');
  });

  test('leaves the message under way, also where the SMSC is busy then: a phone may have it', async () => {
    const id = await message(['unanswered', 'unanswered']);
    await reopenUnanswered(sql, id);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'submitting', states: 'held, held' });
    const first = { messageId: id, parts: [1] };
    expect(await holdParts(sql, first, await claimed(first), 'busy')).toBe(true);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'submitting', states: 'held, held' });
  });

  test('is taken back where the message may not leave, of what it was about alone', async () => {
    const id = await message(['unanswered', 'held']);
    await reopenUnanswered(sql, id);
    await withdrawResubmit(sql, id);
    expect(await now(id)).toEqual({ status: 'queued', submission: 'unanswered', states: 'unanswered, held' });
  });
});

describe('parts', () => {
  test('that the SMSC has are not submitted again with the others by a route that takes messages whole', async () => {
    const id = await message(['accepted', 'held', 'held'], 'submitting');
    expect(await claimParts(sql, { messageId: id, parts: [1, 2, 3], route: ROUTE })).toEqual({
      state: 'accepted',
    });
    expect((await now(id)).states).toBe('accepted, held, held');
    expect((await concludeSubmission(sql, id)).status).toBe('queued');
  });

  test('of one message are locked in one order by all who change them', async () => {
    for (let i = 0; i < 40; i += 1) {
      const id = await message(['submitting', 'submitting'], 'submitting');
      await Promise.all([
        claimParts(sql, { messageId: id, parts: [1], route: 'another' }),
        acceptParts(sql, { messageId: id, parts: [1] }, `${id}-1`),
        leavePartsUnanswered(sql, { messageId: id, parts: [2] }, null),
        acceptParts(sql, { messageId: id, parts: [2] }, `${id}-2`),
      ]);
    }
  });
});

describe('reports', () => {
  test('of messages taken whole reach all their parts, however many there are at once', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 70; i += 1) ids.push(await message(['accepted', 'accepted', 'accepted'], 'answered'));
    await sql`update messages set status = 'sent' where id = any(${ids})`;
    await deliveryReports.receive(
      ROUTE,
      ids.map((id) => report(id, 'delivered')),
    );
    const ends = await sql`select distinct status from messages where id = any(${ids})`;
    expect(ends).toEqual([{ status: 'delivered' }]);
  });

  test('by phone, several of them about each part, give each part its own', async () => {
    const phone = '+48500100777';
    const id = await message(['unanswered', 'unanswered', 'unanswered'], 'unanswered', phone);
    const told = ['u1', 'u2', 'u3'].flatMap((name) => [
      report(name, 'enroute', phone),
      report(name, 'delivered', phone),
    ]);
    await storeReports(sql, ROUTE, told);
    await sql`update delivery_reports set received_at = received_at - interval '20 seconds' where phone = ${phone}`;
    for (let i = 0; i < 6; i += 1) {
      await sql`update delivery_reports set look_at = now() where look_at is not null`;
      await deliveryReports.catchUp();
    }
    expect((await now(id)).status).toBe('delivered');
    const parts = await sql<{ id: string }[]>`
      select provider_message_id as id from message_parts where message_id = ${id} order by part`;
    expect(parts.map((part) => part.id)).toEqual(['u1', 'u2', 'u3']);
  });

  test('that stay unknown are looked at ever less often, and hold up nobody’s', async () => {
    await sql`
      insert into delivery_reports (route, provider_message_id, phone, state, received_at)
      select ${ROUTE}, 'x' || i, ${PHONE}, 'delivered', now() - interval '1 hour' from generate_series(1, 5000) i`;
    await deliveryReports.catchUp();
    const [{ due } = { due: -1 }] = await sql<{ due: number }[]>`
      select count(*)::int as due from delivery_reports where look_at < now() + interval '14 minutes'
         and provider_message_id like 'x%'`;
    expect(due).toBe(0);
    const id = await message(['submitting'], 'submitting');
    await deliveryReports.receive(ROUTE, [report('early', 'delivered')]);
    const stored = await acceptParts(sql, { messageId: id, parts: [1] }, 'early');
    expect(stored).toMatchObject({ status: 'sent', reported: true });
    await deliveryReports.catchUp();
    expect((await now(id)).status).toBe('delivered');
  });
});
