import {
  addReminders,
  type DueOwnEmail,
  endOwnEmail,
  noteAccepted,
  noteRefused,
  readBalanceEmailContent,
  readStatementEmailContent,
  takeDueOwnEmail,
} from '../db/emails/ownEmails.ts';
import { closeFindings, reportFinding } from '../db/maintenance/findings.ts';
import { transaction } from '../db/connection.ts';
import { type OwnEmail, type OwnEmailServices, sendOwnEmail } from '../operations/email/ownEmail.ts';
import { lowBalanceWords, runwayWords } from '../texts/balance.ts';
import { dueWords, reminderWords, statementWords } from '../texts/statement.ts';

// Per run; each takes 10 s if nothing answers.
const AT_A_TIME = 20;

const OF_STATEMENT = { statement: statementWords, due: dueWords, reminder: reminderWords };
const OF_BALANCE = { balance_low: lowBalanceWords, runway: runwayWords };

type Services = OwnEmailServices & { panelUrl: string };
type Needless = 'no_address' | 'paid' | 'over' | 'gone';

/** Sends due own e-mails. One refused for 72 hours becomes a finding, as does one that reaches suppressed recipients only. */
export async function sendDueOwnEmails(services: Services, stopping: AbortSignal): Promise<void> {
  if (services.ownEmailAccount === null) return;
  await addReminders(services.sql);
  for (let sent = 0; sent < AT_A_TIME && !stopping.aborted; sent += 1) {
    const due = await takeDueOwnEmail(services.sql);
    if (due === undefined) return;
    await send(services, due);
  }
}

async function send(services: Services, due: DueOwnEmail): Promise<void> {
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

async function accept({ sql, log }: OwnEmailServices, due: DueOwnEmail, emailId: string): Promise<void> {
  const { idx, kind, subject } = due;
  await transaction(sql, async (tx) => {
    const status = await noteAccepted(tx, idx, emailId);
    if (status !== 'suppressed') return await closeFindings(tx, ['own_email_left'], [subject]);
    log.error({ ownEmail: idx, reason: status }, 'an own e-mail reaches nobody');
    const details = { email: kind, reason: status };
    await reportFinding(tx, { kind: 'own_email_left', subject, accountId: null, details });
  });
}

/** Gives up after 72 hours. No finding if it was never tried because own e-mails were off. */
async function giveUp({ sql }: OwnEmailServices, { idx, kind, subject, first }: DueOwnEmail): Promise<void> {
  await transaction(sql, async (tx) => {
    await endOwnEmail(tx, idx, null);
    if (!first)
      await reportFinding(tx, { kind: 'own_email_left', subject, accountId: null, details: { email: kind } });
  });
}

async function ownEmailOf(
  { sql, panelUrl }: Services,
  { kind, subject }: DueOwnEmail,
): Promise<Omit<OwnEmail, 'idx'> | Needless> {
  if (kind === 'balance_low' || kind === 'runway') {
    const balance = await readBalanceEmailContent(sql, subject);
    if (balance === undefined) return 'gone';
    if (balance.to.length === 0) return 'no_address';
    const isSo = kind === 'runway' ? balance.runsOut : balance.isLow;
    return isSo ? { to: balance.to, ...OF_BALANCE[kind](balance, panelUrl) } : 'over';
  }
  const statement = await readStatementEmailContent(sql, subject);
  if (statement === undefined) return 'gone';
  if (statement.to.length === 0) return 'no_address';
  if (kind !== 'statement' && statement.paidAt !== null) return 'paid';
  return { to: statement.to, ...OF_STATEMENT[kind](statement) };
}
