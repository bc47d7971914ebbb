import { listAudit } from '../../db/accounts/audit.ts';
import { readAffected } from '../../db/accounts/consequences.ts';
import { listTokens } from '../../db/accounts/keys.ts';
import { readSenderRequests } from '../../db/accounts/senderRequests.ts';
import { listKeys, listSenderDetails, listVerifiedNumbers } from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { listFindings } from '../../db/maintenance/findings.ts';
import { COUNTED_MAX } from '../../db/messages/stuck.ts';
import { readMoneyLeft } from '../../db/money/balanceAlerts.ts';
import { readBuyer } from '../../db/money/companyProfiles.ts';
import { paymentsOf } from '../../db/money/payments.ts';
import { listStatements } from '../../db/money/statements.ts';
import { membersOf } from '../../db/people/members.ts';
import { readResendable } from '../../db/webhooks/exhausted.ts';
import { readWebhookSettings } from '../../db/webhooks/webhooks.ts';
import { maskAddress } from '../../domain/email/address.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { findAccount } from '../accounts/accounts.ts';
import { quotaUsage } from '../accounts/quotas.ts';
import { recorded } from '../staff.ts';

// Of each list that grows; the commands behind them have the rest.
const LATEST = 20;

export type AccountView = Awaited<ReturnType<typeof viewAccount>>;

interface AccountInput {
  account: string;
  /** With the addresses of its people and the numbers that it has verified in full. */
  addresses: boolean;
}

/** Everything that staff need of an account on one page; its secrets are left out. @throws StaffRefused account_missing */
export async function viewAccount(sql: Sql, { account: id, addresses: inFull }: AccountInput) {
  const account = await findAccount(sql, id);
  const { legacyUrl, formerUntil } = await readWebhookSettings(sql, id);
  const failing = await readResendable(sql, { accountId: id, minutes: 0 }, LATEST, COUNTED_MAX);
  const people = await membersOf(sql, id);
  const numbers = await listVerifiedNumbers(sql, id);
  const payments = await paymentsOf(sql, { account: id, before: null, limit: LATEST });
  return {
    ...account,
    ...(await readMoneyLeft(sql, id)),
    ...(await readAffected(sql, id)),
    legacyWebhookUrl: legacyUrl,
    formerSecretUntil: formerUntil,
    failingEvents: failing.count,
    senders: await listSenderDetails(sql, id),
    senderRequests: await readSenderRequests(sql, id, null, LATEST),
    verifiedNumbers: numbers.map((one) => (inFull ? one : { ...one, msisdn: maskMsisdn(one.msisdn) })),
    keys: await listKeys(sql, id),
    tokens: await listTokens(sql, id),
    people: people.map((one) => (inFull ? one : { ...one, address: maskAddress(one.address) })),
    company: await readBuyer(sql, id),
    unpaidStatements: await listStatements(sql, id, true),
    payments: payments.map(
      ({ id: payment, state, method, grossGrosze, refundedGrosze, createdAt, paidAt }) => ({
        ...{ id: payment, state, method, grossGrosze, refundedGrosze, createdAt, paidAt },
      }),
    ),
    quotas: await quotaUsage(sql, id),
    webhooks: failing.events.map(({ id: event, since }) => ({ id: event, since })),
    findings: await listFindings(sql, { account: id, state: 'open' }, LATEST),
    audit: await listAudit(sql, id, LATEST),
  };
}

/** The same for the console, with its audit record. */
export const showAccount = recorded('accounts show', async (sql, input: AccountInput) => ({
  data: await viewAccount(sql, input),
  account: input.account,
  details: input.addresses ? { addresses: true } : {},
}));
