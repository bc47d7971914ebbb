import type { FindingKind } from '../db/maintenance/findings.ts';
import { COUNTED_MAX, type StuckKind } from '../db/messages/stuck.ts';
import type { Attention, AttentionKind } from '../operations/support/attention.ts';
import type { WorkflowKind } from '../operations/support/stuck.ts';
import { command, FLAG_VALUE } from './command.ts';

/** A kind of what needs a person. */
interface AttentionList {
  about: string;
  /** The command that lists it, and its options. */
  command: string;
  options: Readonly<Record<string, string>>;
  /** Commands that deal with one of the list. */
  acts: readonly string[];
}

const stuck = (kind: StuckKind | WorkflowKind, about: string, ...acts: string[]): AttentionList => ({
  ...{ about, command: 'stuck', options: { kind }, acts },
});

const finding = (kind: FindingKind, about: string, ...acts: string[]): AttentionList => ({
  ...{ about, command: 'findings list', options: { kind }, acts: [...acts, 'findings dismiss'] },
});

/** In the order in which they are shown. */
export const ATTENTION: Readonly<Record<AttentionKind, AttentionList>> = {
  overdue: stuck('overdue', 'Scheduled messages whose send time is over.', 'messages cancel'),
  queued: stuck('queued', 'Messages that are due and not submitted.'),
  paused: stuck('paused', 'Messages of suspended accounts.', 'messages cancel', 'accounts set'),
  unanswered: stuck(
    ...(['unanswered', 'Messages of which nobody knows whether the provider took them.'] as const),
    ...['messages resubmit', 'messages give-up'],
  ),
  no_report: stuck('no_report', 'Sent messages without a delivery report.'),
  email_queued: stuck('email_queued', 'E-mails that are not submitted.', 'emails give-up'),
  email_unanswered: stuck(
    ...(['email_unanswered', 'E-mails of which nobody knows whether the provider took them.'] as const),
    'emails give-up',
  ),
  webhook: stuck('webhook', 'Webhook events that nobody took.', 'webhooks resend'),
  resend: stuck('resend', 'Webhook events on their way again for too long.'),
  task: stuck('task', 'Workflows whose task fails, or that no worker takes.'),
  timer: stuck('timer', 'Workflows that wait for a send time of the past.'),
  reply: {
    about: 'Replies that belong to no account.',
    ...{ command: 'inbound unmatched', options: {}, acts: ['inbound assign', 'inbound drop'] },
  },
  sender_request: {
    about: 'Senders that accounts ask for.',
    ...{ command: 'senders requests', options: { state: 'pending' } },
    acts: ['senders approve', 'senders reject'],
  },
  keyword: {
    about: 'Everyday words that accounts have as keywords without consent.',
    ...{ command: 'inbound keywords', options: { undecided: 'yes' } },
    acts: ['inbound allow-keyword', 'inbound revoke-keyword'],
  },
  sign_up: {
    about: 'Sign-ups that look abusive: several accounts of one network or number.',
    ...{ command: 'accounts suspicious', options: {}, acts: ['accounts set'] },
  },
  workflow_lost: finding('workflow_lost', 'Workflows that were lost four times.'),
  workflow_ended: finding(
    ...(['workflow_ended', 'Messages whose workflow completed before them.'] as const),
    ...['messages settle', 'emails give-up'],
  ),
  events_left: finding('events_left', 'Webhook events left over four times.', 'webhooks resend'),
  ledger_differs: finding('ledger_differs', 'Balances that differ from their ledger.', 'ledger'),
  domain_lost: finding('domain_lost', 'Sender domains whose DNS records are gone.', 'domains check'),
  own_email_left: finding('own_email_left', 'E-mails of the service that could not be sent.'),
  budget_used: finding('budget_used', 'Codes or sign-in e-mails of a day: 70 % or all used.'),
  payment_differs: finding('payment_differs', 'Payments that differ at the processor.', 'payments show'),
  payment_unowed: finding('payment_unowed', 'Payments of what was not owed any more.', 'payments show'),
  payment_disputed: finding('payment_disputed', 'Payments that the payer disputes.', 'payments show'),
  payment_refunded: finding('payment_refunded', 'Refunds of what paid a statement.', 'payments show'),
  balance_negative: finding('balance_negative', 'Prepaid balances below zero.', 'ledger'),
};

export const attentionCommands = [
  command({
    name: 'attention',
    about: 'Counts what needs a person, by kind, since when the oldest waits, and what lists it.',
    options: {},
    outside: true,
    async run(sql, _, tools) {
      const { readAttention } = await import('../operations/support/attention.ts');
      const found = new Map((await readAttention(sql, () => tools.temporal())).map((one) => [one.kind, one]));
      const data = (Object.keys(ATTENTION) as AttentionKind[]).map((kind) => {
        const { about, ...list } = ATTENTION[kind];
        const one = found.get(kind)!;
        return { kind, count: countInWords(one), oldest: one.oldest, about, list: lineOf(list) };
      });
      return { result: { data } };
    },
  }),
];

/** A number, or a word where it is not known exactly. */
export function countInWords({ count, atLeast, unknown }: Attention): number | string {
  if (unknown === 'unreachable') return 'unknown: Temporal does not answer';
  if (count === null) return 'too slow to count';
  return atLeast ? `${Math.min(count, COUNTED_MAX)} or more` : count;
}

function lineOf({ command, options }: Pick<AttentionList, 'command' | 'options'>): string {
  const typed = Object.entries(options).map(([name, value]) =>
    value === FLAG_VALUE ? ` --${name}` : ` --${name} ${value}`,
  );
  return command + typed.join('');
}
