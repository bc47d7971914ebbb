import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDeliveryReports, type DeliveryReports } from '../../pipeline/deliveryReports.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { storeReports, takeMatchedReports } from '../../db/incoming/deliveryReports.ts';
import { acceptParts } from '../../db/messages/answers.ts';
import { expireMessage } from '../../db/messages/endings.ts';
import { claimParts, holdParts, leavePartsUnanswered } from '../../db/messages/parts.ts';
import { reopenUnanswered } from '../../db/messages/unanswered.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { startDatabase } from '../support/database.ts';
import { writeMessage } from '../support/messages.ts';

const OWN = 'own';
const OTHER = 'other';

let sql: Database;
let stop: () => Promise<void>;
let deliveryReports: DeliveryReports;
const errors: unknown[] = [];
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
  deliveryReports = createDeliveryReports(sql, { dispatch: () => Promise.resolve() }, (error) =>
    errors.push(error),
  );
});
afterAll(async () => {
  deliveryReports.stop();
  await stop();
  expect(errors).toEqual([]);
});

let numbers = 0;
function newPhone(): string {
  numbers += 1;
  return `+48500${String(numbers).padStart(6, '0')}`;
}

/** A queued message on its route, to a phone of its own; none of its parts has left. */
async function queued(parts = 1, phone = newPhone()): Promise<{ id: string; phone: string }> {
  const id = newId('msg');
  await writeMessage(sql, {
    ...{ id, parts, recipient: phone },
    ...{ status: 'queued', submission: 'waiting', route: OWN },
  });
  return { id, phone };
}

async function claim(id: string, parts: number[]): Promise<void> {
  expect(await claimParts(sql, { messageId: id, parts, route: OWN })).toMatchObject({ state: 'claimed' });
}

/** Submitted whole, and taken by the SMSC under this id. */
async function taken(providerId: string): Promise<{ id: string; phone: string }> {
  const message = await queued();
  await claim(message.id, [1]);
  await acceptParts(sql, { messageId: message.id, parts: [1] }, providerId);
  return message;
}

/** Submitted and never answered: its SMSC's id is not known. */
async function unanswered(): Promise<{ id: string; phone: string }> {
  const message = await queued();
  await claim(message.id, [1]);
  await leavePartsUnanswered(sql, { messageId: message.id, parts: [1] }, null);
  await sql`
    update message_parts set submitted_at = submitted_at - interval '2 minutes' where message_id = ${message.id}`;
  return message;
}

async function leave(id: string, part: number): Promise<void> {
  await leavePartsUnanswered(sql, { messageId: id, parts: [part] }, null);
}

const delivered = (report: Partial<DeliveryReport>): DeliveryReport => ({
  ...{ providerMessageId: '', reference: null, state: 'delivered', errorCode: '000' },
  ...report,
});

// Older than any answer that might still be under way, so that nothing is waited for.
async function receive(route: string, report: DeliveryReport): Promise<void> {
  await deliveryReports.receive(route, [report]);
  await sql`
    update delivery_reports set received_at = received_at - interval '1 minute', look_at = now()
     where applied_at is null`;
  await deliveryReports.catchUp();
}

async function statusOf(id: string): Promise<string> {
  const [row] = await sql<{ status: string }[]>`select status from messages where id = ${id}`;
  return row!.status;
}

const WAYS: [string, () => Promise<{ id: string; report: DeliveryReport }>][] = [
  [
    'its id',
    async () => {
      const providerId = newId('evt');
      const { id } = await taken(providerId);
      return { id, report: delivered({ providerMessageId: providerId }) };
    },
  ],
  [
    'its id, read in the other way',
    async () => {
      const providerId = newId('evt');
      const { id } = await taken(providerId);
      return { id, report: delivered({ providerMessageId: 'read wrongly', otherIds: [providerId] }) };
    },
  ],
  [
    'our reference',
    async () => {
      const { id } = await unanswered();
      return { id, report: delivered({ providerMessageId: newId('evt'), reference: `${id}/1` }) };
    },
  ],
  [
    'its phone',
    async () => {
      const { id, phone } = await unanswered();
      return { id, report: delivered({ providerMessageId: newId('evt'), phone }) };
    },
  ],
];

test.each(WAYS)(
  'a delivery report that names a message by %s counts on its own route alone',
  async (_, prepare) => {
    const { id, report } = await prepare();
    const before = await statusOf(id);
    await receive(OTHER, report);
    expect(await statusOf(id)).toBe(before);
    await receive(OWN, report);
    expect(await statusOf(id)).toBe('delivered');
  },
);

describe('a message that waits to be submitted again', () => {
  test.each([
    ['our reference', ({ id }: { id: string }) => delivered({ reference: `${id}/1` })],
    ['its phone', ({ phone }: { phone: string }) => delivered({ phone })],
  ])('is delivered by a report on the submit before that names %s, and does not leave', async (_, report) => {
    const message = await unanswered();
    expect(await reopenUnanswered(sql, message.id)).toBe(true);
    await receive(OTHER, { ...report(message), providerMessageId: newId('evt') });
    expect(await statusOf(message.id)).toBe('queued');
    await receive(OWN, { ...report(message), providerMessageId: newId('evt') });
    expect(await statusOf(message.id)).toBe('delivered');
    const again = await claimParts(sql, { messageId: message.id, parts: [1], route: OWN });
    expect(again).toEqual({ state: 'accepted' });
  });

  test('that the SMSC certainly did not take is met by no report on its phone', async () => {
    const { id, phone } = await queued();
    const claimed = await claimParts(sql, { messageId: id, parts: [1], route: OWN });
    if (claimed.state !== 'claimed') throw new Error('not claimed');
    await holdParts(sql, { messageId: id, parts: [1] }, claimed.at, null);
    await sql`update message_parts set submitted_at = submitted_at - interval '2 minutes' where message_id = ${id}`;
    await receive(OWN, delivered({ providerMessageId: newId('evt'), phone }));
    expect(await statusOf(id)).toBe('queued');
  });
});

test.each([1, 0])(
  'a late answer of the route that a message has left says nothing of its submit on another (reference %i)',
  async (part) => {
    const { id } = await unanswered();
    const late = (route: string, providerMessageId: string) =>
      deliveryReports.receiveLateAnswer(
        route,
        `${id}/${part}`,
        { kind: 'accepted', providerMessageId },
        performance.now(),
      );
    expect(await reopenUnanswered(sql, id)).toBe(true);
    await sql`update messages set route = ${OTHER} where id = ${id}`;
    expect(await claimParts(sql, { messageId: id, parts: [1], route: OTHER })).toMatchObject({
      state: 'claimed',
    });
    await late(OWN, newId('evt'));
    const providerId = newId('evt');
    await acceptParts(sql, { messageId: id, parts: [1] }, providerId);
    await receive(OTHER, delivered({ providerMessageId: providerId }));
    expect(await statusOf(id)).toBe('delivered');
  },
);

describe('an id that was given to a message to another phone', () => {
  test.each([
    ['read as it is', (id: string) => ({ providerMessageId: id })],
    ['read in the other way', (id: string) => ({ providerMessageId: newId('evt'), otherIds: [id] })],
  ])('%s, counts less than the unanswered message to the phone of the report', async (_, ids) => {
    const providerId = newId('evt');
    const other = await taken(providerId);
    const { id, phone } = await unanswered();
    await receive(OWN, delivered({ ...ids(providerId), phone }));
    expect(await statusOf(id)).toBe('delivered');
    expect(await statusOf(other.id)).toBe('sent');
    // A report on a phone that nobody else was written to is about it: its phone may be written otherwise.
    await receive(OWN, delivered({ ...ids(providerId), phone: '+48500999999' }));
    expect(await statusOf(other.id)).toBe('delivered');
  });

  test('counts less than our reference', async () => {
    const providerId = newId('evt');
    const other = await taken(providerId);
    const { id, phone } = await unanswered();
    await receive(OWN, delivered({ providerMessageId: providerId, reference: `${id}/1`, phone }));
    expect([await statusOf(id), await statusOf(other.id)]).toEqual(['delivered', 'sent']);
  });
});

test('what was left unanswered days before a report can come keeps none from the unanswered message of now', async () => {
  const long = await unanswered();
  await sql`update message_parts set submitted_at = submitted_at - interval '7 days' where message_id = ${long.id}`;
  const { id } = await queued(1, long.phone);
  await claim(id, [1]);
  await leave(id, 1);
  await sql`update message_parts set submitted_at = submitted_at - interval '2 minutes' where message_id = ${id}`;
  await receive(OWN, delivered({ providerMessageId: newId('evt'), phone: long.phone }));
  expect([await statusOf(long.id), await statusOf(id)]).toEqual(['queued', 'delivered']);
});

describe('while a submit to the phone of a report is under way', () => {
  /** Submitted so long ago, and not answered so far. */
  async function underWay(phone: string, age: string): Promise<string> {
    const { id } = await queued(1, phone);
    await claim(id, [1]);
    await sql`update message_parts set submitted_at = submitted_at - ${age}::interval where message_id = ${id}`;
    return id;
  }
  async function answered(id: string, providerId: string): Promise<void> {
    await acceptParts(sql, { messageId: id, parts: [1] }, providerId);
    await sql`update delivery_reports set look_at = now() where applied_at is null`;
    await deliveryReports.catchUp();
  }

  test('its unknown id is not of the unanswered message before', async () => {
    const before = await unanswered();
    const id = await underWay(before.phone, '90 seconds');
    const providerId = newId('evt');
    await receive(OWN, delivered({ providerMessageId: providerId, phone: before.phone }));
    expect([await statusOf(before.id), await statusOf(id)]).toEqual(['queued', 'queued']);
    await answered(id, providerId);
    expect([await statusOf(before.id), await statusOf(id)]).toEqual(['queued', 'delivered']);
  });

  test('its id is not of the message to another phone that has it', async () => {
    const providerId = newId('evt');
    const other = await taken(providerId);
    const phone = newPhone();
    const id = await underWay(phone, '90 seconds');
    await receive(OWN, delivered({ providerMessageId: providerId, phone }));
    expect([await statusOf(other.id), await statusOf(id)]).toEqual(['sent', 'queued']);
    await answered(id, providerId);
    expect([await statusOf(other.id), await statusOf(id)]).toEqual(['sent', 'delivered']);
  });

  test.each([
    ['a message of which another part is unanswered', (id: string) => leave(id, 2)],
    ['a message whose time is over', (id: string) => expireMessage(sql, id)],
  ])('so it is where that is of %s', async (_, then) => {
    const before = await unanswered();
    const { id } = await queued(2, before.phone);
    await claim(id, [1]);
    await claim(id, [2]);
    await then(id);
    await sql`update message_parts set submitted_at = submitted_at - interval '90 seconds' where message_id = ${id}`;
    await receive(OWN, delivered({ providerMessageId: newId('evt'), phone: before.phone }));
    expect(await statusOf(before.id)).toBe('queued');
  });

  test.each([
    ['whose answer cannot come any more', '4 minutes', OWN],
    ['that began after the report', '0 seconds', OWN],
    ['on another route', '90 seconds', OTHER],
  ])('one %s keeps no report waiting', async (_, age, route) => {
    const before = await unanswered();
    await sql`
      update message_parts set submitted_at = submitted_at - interval '1 hour' where message_id = ${before.id}`;
    const id = await underWay(before.phone, age);
    await sql`update message_parts set route = ${route} where message_id = ${id}`;
    await receive(OWN, delivered({ providerMessageId: newId('evt'), phone: before.phone }));
    expect(await statusOf(before.id)).toBe('delivered');
  });
});

describe('two routes that gave one id', () => {
  async function takenByBoth(providerId: string): Promise<{ own: string; others: string }> {
    const own = await taken(providerId);
    const others = await queued();
    await sql`update messages set route = ${OTHER} where id = ${others.id}`;
    await claimParts(sql, { messageId: others.id, parts: [1], route: OTHER });
    await acceptParts(sql, { messageId: others.id, parts: [1] }, providerId);
    return { own: own.id, others: others.id };
  }

  test.each([
    [OTHER, OWN],
    [OWN, OTHER],
  ])('each report ends the message of its own route, first that of %s', async (first, second) => {
    const providerId = newId('evt');
    const { own, others } = await takenByBoth(providerId);
    const statuses = async () => ({ [OWN]: await statusOf(own), [OTHER]: await statusOf(others) });
    await receive(first, delivered({ providerMessageId: providerId, state: 'undelivered' }));
    expect(await statuses()).toEqual({ [first]: 'undelivered', [second]: 'sent' });
    await receive(second, delivered({ providerMessageId: providerId }));
    expect(await statuses()).toEqual({ [first]: 'undelivered', [second]: 'delivered' });
  });
});

test('a report that is younger than its answer is looked at again after a moment', async () => {
  await sql.begin(async (tx) => {
    // In one transaction it is one instant.
    await storeReports(tx, OWN, [delivered({ providerMessageId: newId('evt') })]);
    const { looked, againInMs } = await takeMatchedReports(tx, 1_000);
    expect(looked).toBeGreaterThan(0);
    expect(againInMs).toBe(100);
  });
});

test('a report for the first part leaves the message queued until the second has left too', async () => {
  const { id } = await queued(2);
  await claim(id, [1]);
  await acceptParts(sql, { messageId: id, parts: [1] }, 'first');
  await receive(OWN, delivered({ providerMessageId: 'first' }));
  expect(await statusOf(id)).toBe('queued');
  await claim(id, [2]);
  await acceptParts(sql, { messageId: id, parts: [2] }, 'second');
  expect(await statusOf(id)).toBe('sent');
  await receive(OWN, delivered({ providerMessageId: 'second' }));
  expect(await statusOf(id)).toBe('delivered');
});
