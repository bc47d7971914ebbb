import { acceptEmail } from '../../db/emails/accept.ts';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { asDatabase } from '../support/nested.ts';
import { newId } from '../../db/ids.ts';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import { GROSZE_AN_ADDRESS } from '../../domain/email/address.ts';
import { quotasOf } from '../../domain/money.ts';
import { emailStart, type StartableEmail } from '../../workflows/startOptions.ts';
import { insertDomain } from '../support/email.ts';
import { DAY, type Pipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

/** What an e-mail of a test is like. */
export interface EmailWish {
  to?: readonly string[];
  route?: string;
  giveUpAt?: number;
  /** Text of its one file; null: it has none. */
  file?: string | null;
  text?: string;
  unsubscribeToken?: string | null;
  /** What it costs instead of money. */
  testCredits?: number;
  createdAt?: Date;
}

/** An account that may send e-mail, with a webhook where one is named. */
export async function mailAccount(
  pipeline: Pipeline,
  { balance = 1000, webhookUrl }: { balance?: number; webhookUrl?: string } = {},
): Promise<string> {
  const account = await pipeline.account({ balance });
  await insertDomain(pipeline.sql, pipeline.secretsKey, account);
  if (webhookUrl !== undefined)
    await pipeline.sql`
      update accounts set legacy_webhook_url = ${webhookUrl}, legacy_webhook_secret = webhook_secret where id = ${account}`;
  return account;
}

/** Writes an accepted e-mail of an account that has a sender domain; its workflow starts with `startEmail`. */
export async function writtenEmail(
  pipeline: Pick<Pipeline, 'sql' | 'now'>,
  accountId: string,
  wish: EmailWish = {},
): Promise<StartableEmail> {
  const { to = ['jan@klient.example'], route = 'simulator', file = null, text = 'Dzień dobry' } = wish;
  const giveUpAt = wish.giveUpAt ?? (await pipeline.now()) + 3 * DAY;
  const { sql } = pipeline;
  const [domain] = await sql<{ name: string }[]>`
    select name from sender_domains where account_id = ${accountId} limit 1`;
  const email: StartableEmail = { id: newId('em'), accountId, requestId: newId('req'), route, giveUpAt };
  const content = Buffer.from(file ?? '');
  const createdAt = wish.createdAt ?? new Date();
  // In one transaction: a worker would start it in between.
  await sql.begin(async (tx) => {
    await acceptEmail(
      asDatabase(tx),
      {
        ...{ ...email, interface: 'v1', domain: domain!.name, giveUpAt: new Date(giveUpAt) },
        ...{ fromAddress: `sklep@${domain!.name}`, fromName: 'Sklep', replyTo: null, subject: 'Temat' },
        ...{
          headers: [],
          idx: null,
          unsubscribeToken: wish.unsubscribeToken ?? null,
          html: null,
          text,
          sealed: null,
        },
        ...{ costGrosze: to.length * GROSZE_AN_ADDRESS, testCredits: wish.testCredits ?? 0 },
        recipients: to.map((address) => ({ kind: 'to', address, suppressed: false })),
        attachments:
          file === null
            ? []
            : [
                {
                  ...{ filename: 'a.txt', contentType: 'text/plain', contentId: null },
                  ...{ bytes: content.length, pieces: [content] },
                },
              ],
        createdAt,
      },
      [],
      quotasOf({}),
    );
    await tx`delete from reservations where subject_id = ${email.id}`;
  });
  return email;
}

/** Starts the workflow of an e-mail. */
export async function startEmail({ client }: Pipeline, email: StartableEmail): Promise<void> {
  await client.workflow.start('email', emailStart(email));
}

/** Writes one and starts its workflow. @returns its id */
export async function sendEmailOf(
  pipeline: Pipeline,
  account: string,
  wish: EmailWish = {},
): Promise<string> {
  const email = await writtenEmail(pipeline, account, wish);
  await startEmail(pipeline, email);
  return email.id;
}

/** An e-mail as the database has it. */
interface StoredEmail {
  status: string;
  submission: string;
  errorCode: string | null;
  pieces: number;
  refunds: number;
}

/** Reads what became of an e-mail. */
export async function storedEmail({ sql }: Pick<Pipeline, 'sql'>, id: string): Promise<StoredEmail> {
  const [row] = await sql<StoredEmail[]>`
    select status, submission, error_code,
           (select count(*)::int from email_attachment_pieces where email_id = e.id) as pieces,
           (select count(*)::int from ledger_entries where subject_id = e.id and kind = 'refund') as refunds
      from emails e where id = ${id}`;
  return row!;
}

/** Waits until an e-mail has a status. */
export async function untilEmailIs(pipeline: Pipeline, id: string, status: string): Promise<void> {
  await until(`${id} is ${status}`, async () => (await storedEmail(pipeline, id)).status === status);
}

/** How often the simulated provider was handed an e-mail it took; 0: it never took it. */
export async function triesOf({ sql }: Pipeline, id: string): Promise<number> {
  const rows = await sql<{ tries: number }[]>`select tries from simulator_emails where reference = ${id}`;
  if (rows.length > 1) throw new Error(`the provider has ${id} ${rows.length} times`);
  return rows[0]?.tries ?? 0;
}

let events = 0;

/** Stores an event as a provider reports it; the worker comes to it within seconds. */
export async function reportEmail(
  { sql }: Pipeline,
  emailId: string,
  event: Partial<ProviderEmailEvent> = {},
  route = 'simulator',
): Promise<void> {
  events += 1;
  const common = { emailId, providerEmailId: null, permanent: null, addresses: [], at: new Date() };
  const stored = { ...common, eventId: `reported-${events}`, kind: 'opened', payload: {}, ...event } as const;
  await storeEmailEvents(sql, route, [stored]);
}

/** The webhook events of an e-mail in the order of their making: what they say, and how they stand. */
export async function notifiedOf(
  { sql }: Pipeline,
  id: string,
): Promise<{ kind: string; state: string; attempts: number }[]> {
  return [
    ...(await sql<{ kind: string; state: string; attempts: number }[]>`
      select p.kind, e.state, (select count(*)::int from webhook_attempts t where t.event_id = e.id) as attempts
        from webhook_events e
        join provider_email_events p on p.route = e.snapshot->>'route' and p.event_id = e.snapshot->>'event_id'
       where e.subject_kind = 'email' and e.subject_id = ${id} order by e.id`),
  ];
}
