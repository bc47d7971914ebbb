import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { newId } from '../../db/ids.ts';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import { createEmailEvents } from '../../pipeline/emailEvents.ts';
import { registry } from '../../telemetry/metrics.ts';
import { ownDatabase } from '../admin/support.ts';
import { insertDomain } from '../support/email.ts';
import { writtenEmail } from '../workflows/emails.ts';

const database = ownDatabase();
const NAME = 'goniec_email_events_total';

/** How often each kind of event was counted for the simulated route. */
async function counted(): Promise<Record<string, number>> {
  const { values } = await registry.getSingleMetric(NAME)!.get();
  const ofRoute = values.filter(({ labels }) => labels['route'] === 'simulator');
  return Object.fromEntries(ofRoute.map(({ labels, value }) => [String(labels['kind']), value]));
}

test('events of e-mails are counted by route and kind, each once, and only once its e-mail is known', async () => {
  const sql = database.sql();
  const account = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${account}, 'Test', 'live')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'opening', 100)`;
  await sql`insert into routes (name, kind) values ('simulator', 'simulator') on conflict do nothing`;
  await insertDomain(sql, Buffer.alloc(32, 1), account);
  const { id } = await writtenEmail({ sql, now: () => Promise.resolve(Date.now()) }, account);
  await sql`update emails set status = 'sent', submission = 'answered' where id = ${id}`;
  const event = (kind: ProviderEmailEvent['kind'], emailId = id): ProviderEmailEvent => ({
    ...{ eventId: newId('evt'), emailId, providerEmailId: null, kind, permanent: null },
    ...{ addresses: [], at: new Date(), payload: {} },
  });
  const opened = event('opened');
  await storeEmailEvents(sql, 'simulator', [event('delivered'), opened, event('opened')]);
  await storeEmailEvents(sql, 'simulator', [opened, event('complained', newId('em'))]);
  // Nobody has a webhook, so no workflow is called.
  const events = createEmailEvents(sql, {} as Client, () => undefined);
  await events.catchUp();
  await events.catchUp();
  expect(await counted()).toEqual({ delivered: 1, opened: 2 });
});
