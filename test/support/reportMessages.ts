import { newId } from '../../db/ids.ts';
import type { EmailStatus } from '../../domain/email/statuses.ts';
import type { MessageStatus } from '../../domain/statuses.ts';
import { database, type TestAccount } from './factories.ts';
import { HOUR, NOON } from './reports.ts';

/** A message as a report sees it, written past the pipeline so that it can lie in the past. */
export interface PastMessage {
  at: number;
  status?: MessageStatus;
  sender?: string | null;
  country?: string | null;
  reference?: string | null;
  recipient?: string;
  parts?: number;
  cost?: number;
  refunded?: boolean;
  testCredits?: number;
  /** Milliseconds from acceptance to the send time; null: at once. */
  sendAfter?: number | null;
  /** Milliseconds from the send time to the delivery report. */
  took?: number;
}

/** Writes messages with their ledger entries; returns their ids. */
export async function writePast({ id: account }: TestAccount, messages: PastMessage[]): Promise<string[]> {
  const sql = database();
  const rows = messages.map((m) => {
    const status = m.status ?? 'delivered';
    const { sendAfter = null } = m;
    const sendAt = sendAfter === null ? null : m.at + sendAfter;
    return {
      id: newId('msg'),
      account_id: account,
      request_id: newId('req'),
      status,
      accepted_as: 'queued',
      recipient: m.recipient ?? '+48500100200',
      country: m.country === undefined ? 'PL' : m.country,
      sender: m.sender === undefined ? 'SKLEP' : m.sender,
      text: 'x',
      parts: m.parts ?? 1,
      cost_grosze: m.cost ?? 10,
      test_credits: m.testCredits ?? 0,
      reference: m.reference ?? null,
      send_at: sendAt === null ? null : new Date(sendAt),
      give_up_at: new Date(m.at),
      route: 'simulator',
      delivered_at: status === 'delivered' ? new Date((sendAt ?? m.at) + (m.took ?? 1000)) : null,
      created_at: new Date(m.at),
    };
  });
  if (rows.length > 0) await sql`insert into messages ${sql(rows)}`;
  const entries = rows.flatMap((row, i) => {
    if (row.cost_grosze === 0) return [];
    const amount = row.test_credits > 0 ? 0 : row.cost_grosze;
    const entry = {
      account_id: account,
      subject_kind: 'message',
      subject_id: row.id,
      created_at: row.created_at,
    };
    return [
      { ...entry, kind: 'charge', amount_grosze: -amount, test_credits: -row.test_credits },
      ...(messages[i]!.refunded
        ? [{ ...entry, kind: 'refund', amount_grosze: amount, test_credits: row.test_credits }]
        : []),
    ];
  });
  if (entries.length > 0) await sql`insert into ledger_entries ${sql(entries)}`;
  return rows.map(({ id }) => id);
}

/** An e-mail as a report sees it; money in grosze. */
interface PastEmail {
  status: EmailStatus;
  cost: number;
  /** Of the cost, grosze or, of one that test credits paid, credits. */
  refunded?: number;
  testCredits?: number;
  at?: number;
}

/** Writes e-mails with their ledger entries; what is refunded is that weeks later. */
export async function writeEmails({ id: account }: TestAccount, emails: PastEmail[]): Promise<void> {
  const sql = database();
  for (const { status, cost, refunded = 0, testCredits = 0, at = NOON } of emails) {
    const id = newId('em');
    await sql`
      insert into emails (id, account_id, request_id, interface, status, route, domain, from_address, subject, cost_grosze,
                          test_credits, give_up_at, created_at)
      values (${id}, ${account}, ${newId('req')}, 'v1', ${status}, 'simulator', 'd.example', 'a@d.example', 'x', ${cost},
              ${testCredits}, ${new Date(at)}, ${new Date(at)})`;
    const entry = { account_id: account, subject_kind: 'email', subject_id: id };
    const charged = {
      kind: 'charge',
      amount_grosze: testCredits > 0 ? 0 : -cost,
      test_credits: -testCredits,
    };
    const back =
      testCredits > 0
        ? { amount_grosze: 0, test_credits: refunded }
        : { amount_grosze: refunded, test_credits: 0 };
    const entries = [
      ...(cost === 0 ? [] : [{ ...entry, ...charged, created_at: new Date(at) }]),
      ...(refunded === 0
        ? []
        : [{ ...entry, kind: 'refund', ...back, created_at: new Date(at + 40 * 24 * HOUR) }]),
    ];
    if (entries.length > 0) await sql`insert into ledger_entries ${sql(entries)}`;
  }
}
