import { Client, Connection } from '@temporalio/client';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../db/connection.ts';
import { eventually } from '../support/eventually.ts';
import type { ResendServer } from '../providers/resendServer.ts';
import { type FaultyProvider, isRefused } from './emailFaults.ts';
import type { Fate, Reported } from './emailReports.ts';
import {
  each,
  type MailAccount,
  type MailWebhook,
  type Payer,
  type Told,
  type Wished,
} from './emailScene.ts';
import { groupBy } from './group.ts';
import type { Separate } from './installation.ts';

/** Everything that was asked for, what the callers were told, and what the provider did. */
interface MailScene {
  sql: Database;
  service: Separate;
  resend: ResendServer;
  provider: FaultyProvider;
  accounts: Record<Payer, MailAccount & { toppedUpGrosze: number }>;
  webhooks: readonly MailWebhook[];
  wished: readonly Wished[];
  /** By idx; all were accepted. */
  told: ReadonlyMap<string, Told>;
  reported: readonly Reported[];
}

/** An e-mail with all that its account sees of it. */
interface Seen {
  id: string;
  idx: string;
  accountId: string;
  status: string;
  submission: string;
  entries: { kind: string; amount: number }[];
  events: { kind: string; address: string | null; permanent: boolean | null }[];
}

const STATUS: Readonly<Record<Fate, string>> = {
  ...{ delivered: 'delivered', bounced: 'bounced', returned: 'bounced', complained: 'complained' },
};

/** How much is still to be done, by what it is; empty once all is over. */
export async function leftToDo(sql: Database): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*)::int from emails where status = 'queued' or submission <> 'answered') as emails,
           (select count(*)::int from provider_email_events where applied_at is null or look_at is not null) as reports,
           (select count(*)::int from webhook_events where state <> 'delivered') as webhook_events,
           (select count(*)::int from reservations) as reservations`;
  return Object.fromEntries(Object.entries(row!).filter(([, count]) => count > 0));
}

/** The pieces of files that the clean-up leaves an hour after the last word on their e-mails: an event may say more than a lost answer. */
export async function piecesLeft({ sql, service }: MailScene): Promise<number> {
  await sql`update emails set updated_at = updated_at - interval '1 hour'`;
  const connection = await Connection.connect({ address: service.temporalAddress });
  try {
    await new Client({ connection }).schedule.getHandle('clean-up').trigger();
  } finally {
    await connection.close();
  }
  const count = async (): Promise<number> => (await sql`select from email_attachment_pieces`).count;
  return await eventually(count, (pieces) => pieces === 0);
}

/** E-mails whose workflow does anything but wait for events. */
export async function busyWorkflows({ service, told }: MailScene): Promise<string[]> {
  const connection = await Connection.connect({ address: service.temporalAddress });
  try {
    const client = new Client({ connection });
    const busy: string[] = [];
    await each([...told.values()], async ({ id }) => {
      const { raw } = await client.workflow.getHandle(id!).describe();
      if ((raw.pendingActivities ?? []).length > 0) busy.push(id!);
    });
    return busy;
  } finally {
    await connection.close();
  }
}

/** Each e-mail that was not refused is there once, as it was asked for, and came by one key. */
export function checkProvider({ resend, provider, wished, told }: MailScene): void {
  const idOf = ({ idx }: Wished): string => told.get(idx)!.id!;
  const taken = wished.filter(({ script }) => !isRefused(script));
  expect(resend.sent.map(({ key }) => key).toSorted()).toEqual(taken.map(idOf).toSorted());
  const byKey = new Map(resend.sent.map((one) => [one.key, one]));
  for (const one of taken) {
    const { body, files } = byKey.get(idOf(one))!;
    expect(body).toMatchObject({ to: one.to, subject: one.idx, text: 'Treść' });
    expect(body.tags).toEqual([{ name: 'goniec_id', value: idOf(one) }]);
    expect(files.map(({ content }) => content.equals(one.file))).toEqual([true]);
  }
  for (const one of wished) expect([...provider.keys.get(one.idx)!], one.idx).toEqual([idOf(one)]);
  expect(Object.fromEntries(provider.counts)).not.toHaveProperty('answered invalid_idempotent_request');
}

/** Each e-mail is what the provider said of it, with its charge, its refund where there is one, and each event once. */
export async function checkEmails(scene: MailScene): Promise<void> {
  const byEmail = groupBy(scene.reported, ({ emailId }) => emailId);
  const expected = scene.wished.map((one): Seen => {
    const id = scene.told.get(one.idx)!.id!;
    return expectedOf(one, { id, accountId: scene.accounts[one.payer].id, reported: byEmail.get(id) ?? [] });
  });
  const seen = (await readSeen(scene.sql)).map((one) => ({ ...one, events: inOrder(one.events) }));
  expect(seen).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
}

function expectedOf(
  { idx, to, script, fate }: Wished,
  { id, accountId, reported }: { id: string; accountId: string; reported: readonly Reported[] },
): Seen {
  const common = { id, idx, accountId, submission: 'answered' };
  const charge = { kind: 'charge', amount: -to.length };
  if (isRefused(script)) {
    expect(reported).toEqual([]);
    const events = [{ kind: 'failed', address: null, permanent: null }];
    return { ...common, status: 'failed', entries: [charge, { kind: 'refund', amount: to.length }], events };
  }
  const events = reported.map(({ kind, permanent, addresses }) => ({
    ...{ kind, address: addresses.length === 1 ? addresses[0]! : null, permanent },
  }));
  return { ...common, status: STATUS[fate], entries: [charge], events: inOrder(events) };
}

const inOrder = (events: Seen['events']): Seen['events'] =>
  events.toSorted((a, b) => (`${a.kind} ${a.address}` < `${b.kind} ${b.address}` ? -1 : 1));

async function readSeen(sql: Database): Promise<Seen[]> {
  return [
    ...(await sql<Seen[]>`
      select id, idx, account_id, status, submission,
             (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'amount', amount_grosze) order by l.id), '[]')
                from ledger_entries l where subject_id = e.id) as entries,
             (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'address', address, 'permanent', details->'permanent')), '[]')
                from email_events where email_id = e.id) as events
        from emails e order by id`),
  ];
}

/** The accounts have what they paid in less what was handed over. */
export async function checkBooks({ sql, accounts, wished }: MailScene): Promise<void> {
  for (const payer of ['rich', 'poor'] as const) {
    const { id, openingGrosze, toppedUpGrosze } = accounts[payer];
    const paid = wished
      .filter((one) => one.payer === payer && !isRefused(one.script))
      .reduce((sum, { to }) => sum + to.length, 0);
    const left = openingGrosze + toppedUpGrosze - paid;
    const books = await sql`
      select balance_grosze::int as balance,
             (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger
        from accounts a where id = ${id}`;
    expect(books, payer).toEqual([{ balance: left, ledger: left }]);
  }
}

/** What was reported is stored, and nothing else; each is one webhook event, which came, signed. */
export async function checkReports({ sql, reported, webhooks }: MailScene): Promise<void> {
  const stored = await sql<{ eventId: string; emailId: string; webhookEvents: number }[]>`
    select v.event_id, v.email_id,
           (select count(*)::int from webhook_events w
             where w.subject_id = v.email_id and w.snapshot->>'event_id' = v.event_id) as webhook_events
      from provider_email_events v order by v.event_id`;
  expect([...stored]).toEqual(
    reported
      .map(({ eventId, emailId }) => ({ eventId, emailId, webhookEvents: 1 }))
      .toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1)),
  );
  for (const { calls, isSigned } of webhooks) expect(calls.filter((call) => !isSigned(call))).toEqual([]);
  const came = webhooks.flatMap(({ calls }) => calls.map(({ raw }) => calledWith(raw)));
  expect([...new Set(came)].toSorted()).toEqual(
    reported
      .map(({ kind, emailId, addresses }) => [kind, emailId, addresses.join(', ')].join(' '))
      .toSorted(),
  );
}

const emailEvent = z.object({
  ...{ event: z.literal('email_event'), kind: z.string(), email_id: z.string(), to: z.string() },
});

function calledWith(raw: string): string {
  const { kind, email_id: id, to } = emailEvent.parse(JSON.parse(raw));
  return [kind, id, to].join(' ');
}

/** Who bounced for good or complained is on the suppression list, and nobody else. */
export async function checkSuppressions({ sql, reported }: MailScene): Promise<void> {
  const suppressed = await sql<{ address: string; reason: string }[]>`
    select address, reason from suppressions order by address collate "C"`;
  const expected = reported.flatMap(({ kind, permanent, addresses: [address = ''] }) => {
    if (kind === 'complained') return [{ address, reason: 'complaint' }];
    return permanent === true ? [{ address, reason: 'bounce' }] : [];
  });
  expect([...suppressed]).toEqual(expected.toSorted((a, b) => (a.address < b.address ? -1 : 1)));
}
