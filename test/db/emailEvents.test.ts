import { describe, expect, test } from 'vitest';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { newId } from '../../db/ids.ts';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import { ownDatabase } from '../admin/support.ts';

const database = ownDatabase();

const event = (emailId: string | null, wish: Partial<ProviderEmailEvent>): ProviderEmailEvent => ({
  ...{ eventId: newId('evt'), emailId, providerEmailId: null, kind: 'bounced', permanent: null },
  ...{ addresses: [], at: new Date(), payload: {}, ...wish },
});

const store = (events: ProviderEmailEvent[]) => storeEmailEvents(database.sql(), 'simulator', events);
const times = (count: number, emailId: string | null, wish: Partial<ProviderEmailEvent>) =>
  store(Array.from({ length: count }, () => event(emailId, wish)));

/** How many events of an e-mail are kept, by what they are. */
async function kept(emailId: string): Promise<Record<string, number>> {
  const rows = await database.sql()<{ what: string; count: number }[]>`
    select case when unverified then 'unverified' else kind end as what, count(*)::int as count
      from provider_email_events where email_id = ${emailId} group by 1`;
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]));
}

describe('what strangers can have happen again and again is kept of one e-mail', () => {
  test('a hundred times where it came to the return path, whatever it says', async () => {
    const [one, other] = [newId('em'), newId('em')];
    await times(60, one, { unverified: true, kind: 'complained' });
    await times(60, one, { unverified: true, kind: 'delivered' });
    await times(1, other, { unverified: true });
    expect([await kept(one), await kept(other)]).toEqual([{ unverified: 100 }, { unverified: 1 }]);
    // What the provider itself says finds room.
    await times(1, one, { kind: 'complained' });
    await times(1, one, { kind: 'opened' });
    expect(await kept(one)).toEqual({ unverified: 100, complained: 1, opened: 1 });
  });

  test('a thousand times where it was opened, and where a link in it was clicked', async () => {
    const [one, other] = [newId('em'), newId('em')];
    await times(1_001, one, { kind: 'opened' });
    await times(1, other, { kind: 'opened' });
    expect([await kept(one), await kept(other)]).toEqual([{ opened: 1_000 }, { opened: 1 }]);
    await times(1_001, one, { kind: 'clicked' });
    await times(1, one, { kind: 'delivered' });
    await times(1, one, { unverified: true, kind: 'opened' });
    expect(await kept(one)).toEqual({ opened: 1_000, clicked: 1_000, delivered: 1, unverified: 1 });
  });
});

test('what a provider says once for each of very many recipients is all kept', async () => {
  const id = newId('em');
  await times(1_200, id, { kind: 'delivered' });
  expect(await kept(id)).toEqual({ delivered: 1_200 });
});

test('of an e-mail that is not known yet, a thousand opens by the provider’s id are kept', async () => {
  const [one, other] = [newId('em'), newId('em')];
  await times(1_001, null, { kind: 'opened', providerEmailId: one });
  await times(1, null, { kind: 'opened', providerEmailId: other });
  await times(1_001, null, { kind: 'delivered', providerEmailId: one });
  const rows = await database.sql()<{ kind: string; one: number; other: number }[]>`
    select kind, count(*) filter (where provider_email_id = ${one})::int as one,
           count(*) filter (where provider_email_id = ${other})::int as other
      from provider_email_events where provider_email_id in (${one}, ${other}) group by kind order by kind`;
  expect(rows).toEqual([
    { kind: 'delivered', one: 1_001, other: 0 },
    { kind: 'opened', one: 1_000, other: 1 },
  ]);
});

test('the bound is exact, however many come at once', async () => {
  const providerEmailId = newId('em');
  await times(990, null, { kind: 'clicked', providerEmailId });
  await Promise.all(Array.from({ length: 40 }, () => times(1, null, { kind: 'clicked', providerEmailId })));
  const rows = await database.sql()`
    select from provider_email_events where provider_email_id = ${providerEmailId}`;
  expect(rows).toHaveLength(1_000);
});
