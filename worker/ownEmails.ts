import {
  addReminders,
  type DueOwnEmail,
  endOwnEmail,
  lostAlerts,
  type LostOwnEmail,
  noteAccepted,
  noteLost,
  noteRefused,
  readStatementMatter,
  readToldFindings,
  type StatementMatter,
  takeDueOwnEmail,
  type ToldFinding,
} from '../db/emails/ownEmails.ts';
import { closeFindings, reportFinding } from '../db/maintenance/findings.ts';
import type { Sql } from '../db/connection.ts';
import { transaction } from '../db/transaction.ts';
import { type OwnEmail, type OwnEmailServices, sendOwnEmail } from '../operations/email/ownEmail.ts';
import type { Words } from '../texts/words.ts';

// In one go; each takes ten seconds where nobody answers.
const AT_A_TIME = 20;
// Beyond these an e-mail to staff only counts.
const FINDINGS_NAMED = 50;

/** What makes the words of own e-mails. */
export interface OwnEmailTexts {
  statement: (matter: StatementMatter) => Words;
  reminder: (matter: StatementMatter) => Words;
  findings: (findings: readonly ToldFinding[], count: number) => Words;
}

/** What sending the service's own e-mails needs. */
export interface OwnEmailSending extends OwnEmailServices {
  texts: OwnEmailTexts;
  /** Where findings are e-mailed to (`ALERT_EMAIL`); null: nowhere. */
  alertEmail: string | null;
}

/** Why an own e-mail has nothing to say any more. */
type Needless = 'no_address' | 'paid' | 'gone';

/**
 * Sends the own e-mails whose try is due; any number of workers may do so at a time. What is refused is tried again for 72 hours, then it
 * is a finding. So is what was accepted and reaches nobody.
 * @param stopping begins no more once it is aborted
 */
export async function sendDueOwnEmails(services: OwnEmailSending, stopping: AbortSignal): Promise<void> {
  if (services.ownEmailAccount === null) return;
  await addReminders(services.sql);
  for (const lost of await lostAlerts(services.sql)) await leave(services, lost);
  for (let sent = 0; sent < AT_A_TIME && !stopping.aborted; sent += 1) {
    const due = await takeDueOwnEmail(services.sql);
    if (due === undefined) return;
    await send(services, due);
  }
}

async function send(services: OwnEmailSending, due: DueOwnEmail): Promise<void> {
  const { sql, log } = services;
  const { idx } = due;
  const email = await ownEmailOf(services, due);
  if (typeof email === 'string') return await endOwnEmail(sql, idx, email);
  if (due.over) {
    log.error({ ownEmail: idx }, 'an own e-mail is given up');
    return await giveUp(services, due);
  }
  const outcome = await sendOwnEmail(services, { ...email, idx });
  if (outcome.state === 'off') return;
  if (outcome.state === 'refused')
    return await (outcome.again ? noteRefused : endOwnEmail)(sql, idx, outcome.reason);
  await accept(services, due, outcome.emailId);
}

async function accept({ sql, log }: OwnEmailSending, due: DueOwnEmail, emailId: string): Promise<void> {
  const { idx, kind, subject } = due;
  await transaction(sql, async (tx) => {
    const status = await noteAccepted(tx, idx, emailId);
    if (status !== 'suppressed') return await closeFindings(tx, ['own_email_left'], [subject]);
    log.error({ ownEmail: idx, reason: status }, 'an own e-mail reaches nobody');
    await noteLeft(tx, { idx, kind, subject, reason: status });
  });
}

/** Of what was accepted and has failed, or came back, afterwards. */
async function leave({ sql, log }: OwnEmailSending, lost: LostOwnEmail): Promise<void> {
  const { idx, reason } = lost;
  if (await transaction(sql, (tx) => noteLeft(tx, lost)))
    log.error({ ownEmail: idx, reason }, 'an own e-mail has reached nobody');
}

async function noteLeft(tx: Sql, lost: LostOwnEmail): Promise<boolean> {
  const noted = await noteLost(tx, lost);
  const { kind, subject, reason } = lost;
  if (noted)
    await reportFinding(tx, {
      ...{ kind: 'own_email_left', subject, accountId: null },
      details: { email: kind, reason },
    });
  return noted;
}

/** Ends what could not be sent in 72 hours. What was never tried, because own e-mails were off, is nobody's fault. */
async function giveUp({ sql }: OwnEmailSending, { idx, kind, subject, first }: DueOwnEmail): Promise<void> {
  await transaction(sql, async (tx) => {
    await endOwnEmail(tx, idx, null);
    if (!first)
      await reportFinding(tx, { kind: 'own_email_left', subject, accountId: null, details: { email: kind } });
  });
}

/** The whole of an own e-mail as things are now, or why there is none to send. */
async function ownEmailOf(
  { sql, texts, alertEmail }: OwnEmailSending,
  { idx, kind, subject }: DueOwnEmail,
): Promise<Omit<OwnEmail, 'idx'> | Needless> {
  if (kind === 'findings') {
    if (alertEmail === null) return 'no_address';
    const { findings, count } = await readToldFindings(sql, idx, FINDINGS_NAMED);
    return count === 0 ? 'gone' : { to: alertEmail, ...texts.findings(findings, count) };
  }
  const matter = await readStatementMatter(sql, subject);
  if (matter === undefined) return 'gone';
  if (matter.contactEmail === null) return 'no_address';
  if (kind === 'reminder' && matter.paidAt !== null) return 'paid';
  return { to: matter.contactEmail, ...texts[kind](matter) };
}
