import {
  type EmailHead,
  listEmailsForStaff,
  type ListedEmail,
  readEmailHead,
  readEmailTimeline,
} from '../../db/emails/timeline.ts';
import { EMAIL_STATUSES, shownState } from '../../domain/email/statuses.ts';
import { ERASED_ADDRESS, maskAddress } from '../../domain/email/address.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
import { askTemporal, readable, workflowOf } from './messages/seen.ts';
import { notFound } from './problems.ts';
import { printable } from './printable.ts';
import { accountId, emailId, oneOf, rows, yesOrNo } from './values.ts';

const DEFAULT_ROWS = 50;

const show = command({
  name: 'emails show',
  about: 'Shows one e-mail’s way, from its request to its webhooks; never its subject or contents.',
  options: {
    id: required('ID', 'the e-mail', emailId),
    addresses: optional('yes|no', 'with its addresses in full; default: no', yesOrNo),
  },
  positional: ['id'],
  outside: true,
  async run(sql, { id, addresses = false }, tools): Promise<Outcome> {
    const head = await readEmailHead(sql, id);
    if (head === null) throw notFound(`There is no e-mail ${id}.`);
    const timeline = await readEmailTimeline(sql, head);
    const seen = await askTemporal(tools, id);
    const all = [...timeline, ...seen.entries].sort((a, b) => a.at.getTime() - b.at.getTime());
    return {
      result: {
        ...headOf(head, addresses ? printable : masked),
        ...workflowOf(seen),
        timeline: all.map(({ at, kind, facts }) => ({ at, event: kind, details: readable(facts) })),
      },
      account: head.accountId,
      subject: id,
      ...(addresses ? { details: { addresses: true } } : {}),
      ...(seen.remark === null ? {} : { remark: seen.remark }),
    };
  },
});

const list = command({
  name: 'emails list',
  about: 'Lists the e-mails of an account, newest first.',
  options: {
    account: required('ID', 'the account', accountId),
    status: optional('STATUS', EMAIL_STATUSES.join(', '), oneOf(...EMAIL_STATUSES)),
    limit: optional('N', `e-mails shown; default: ${DEFAULT_ROWS}`, rows),
  },
  async run(sql, { account, status = null, limit = DEFAULT_ROWS }): Promise<Outcome> {
    await findAccount(sql, account);
    const found = await listEmailsForStaff(sql, { accountId: account, status }, limit);
    return { result: { data: found.map(record) }, account };
  },
});

const giveUp = command({
  name: 'emails give-up',
  about: 'Ends an e-mail that waits or is unanswered as failed and refunds it; its recipients may have it.',
  options: { id: required('ID', 'the e-mail', emailId) },
  positional: ['id'],
  async ask(asking, input): Promise<Shown> {
    const { giveUpEmailForStaff } = await import('../../operations/support/emails.ts');
    return { result: { id: input.id, ...(await giveUpEmailForStaff({ ...asking, input })) } };
  },
});

export const emailCommands = [show, list, giveUp];

function headOf(head: EmailHead, shown: (address: string) => string): Record<string, unknown> {
  return {
    ...{ id: head.id, account_id: head.accountId, request_id: head.requestId },
    ...{ status: head.status, submission: head.submission, error: head.errorCode },
    ...{ route: head.route, domain: head.domain, provider_id: printableOrNull(head.providerEmailId) },
    ...{ cost_grosze: head.costGrosze, attachments: head.attachments, give_up_at: head.giveUpAt },
    ...(head.erasedAt === null ? {} : { erased_at: head.erasedAt }),
    recipients: head.recipients.map(({ kind, address, state }) => ({
      ...{ kind, address: shown(address) },
      state: shownState(head.status, state),
    })),
  };
}

function masked(address: string): string {
  return address === ERASED_ADDRESS ? address : printable(maskAddress(address));
}

function printableOrNull(text: string | null): string | null {
  return text === null ? null : printable(text);
}

function record(email: ListedEmail): Record<string, unknown> {
  return {
    ...{ id: email.id, status: email.status, submission: email.submission, error: email.errorCode },
    ...{ route: email.route, domain: email.domain, addresses: email.addresses },
    ...{ cost_grosze: email.costGrosze, created_at: email.createdAt },
  };
}
