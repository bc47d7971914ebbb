import {
  type Refusal,
  Refused,
  type ResendRefusal,
  type StaffRefusal,
  StaffRefused,
} from '../../domain/refusals.ts';
import type { ActedOn } from '../../operations/staff.ts';
import { printable } from './printable.ts';
import { AdminError, invalidArgument, notFound, refused } from './problems.ts';

/** What an operation refuses, in the words of the command line: with its code, and the option that is to blame. */
export function inWords(error: Refused | StaffRefused): AdminError {
  return error instanceof Refused ? ofBoth(error.refusal) : ofStaff(error.refusal);
}

// Of what accounts ask as well, these are the rules that staff can meet.
function ofBoth(refusal: Refusal): AdminError {
  if (refusal.reason === 'sender_inactive')
    return invalidArgument('--sender', 'the account has no active sender of this name (see senders add)');
  if (refusal.reason === 'window_malformed')
    return invalidArgument('--send-window', 'HH:MM-HH:MM, at least 15 minutes wide, or none is needed');
  if (refusal.reason === 'address_malformed')
    return invalidArgument('--contact-email', 'an address such as jan@example.com, or none, is needed');
  if (refusal.reason === 'domain_unknown') return notFound('The account has no such sender domain.');
  if (refusal.reason === 'domains_too_many')
    return refused(`The account has ${refusal.limit} sender domains already; remove one first.`);
  const ofDomain = DOMAIN_FAULTS.get(refusal.reason);
  if (ofDomain !== undefined) return invalidArgument('--name', ofDomain);
  const fault = ADDRESS_FAULTS.get(refusal.reason);
  if (fault !== undefined) return invalidArgument('--url', fault);
  return refused(`This is refused: ${refusal.reason}.`);
}

const ADDRESS_FAULTS = new Map<string, string>([
  ['url_malformed', 'this is no address'],
  ['url_scheme', 'https:// is needed'],
  ['url_credentials', 'a user or password is not allowed'],
  ['url_fragment', 'a part behind # is not allowed'],
  ['url_port', 'port 443, or one from 1024 on that no other service is known for, is needed'],
  ['url_private', 'the address has to be public'],
]);

const DOMAIN_FAULTS = new Map<string, string>([
  ['domain_malformed', 'a domain such as sklep.example is needed, without a dot at its end'],
  ['domain_exists', 'the account has this sender domain already'],
  ['domain_taken', 'another account has this sender domain'],
  ['domain_not_verified', 'this sender domain is not verified (see domains check)'],
]);

function ofStaff(refusal: StaffRefusal): AdminError {
  switch (refusal.reason) {
    case 'account_missing':
      return notFound(`There is no account ${refusal.account}.`);
    case 'account_not_open':
      return refused(`The account ${refusal.account} is closed.`);
    case 'account_prepaid':
      return refused(`The account ${refusal.account} is prepaid; statements are for postpaid ones.`);
    case 'nothing_to_change':
      return invalidArgument(CHANGING[refusal.of], 'name at least one setting to change');
    case 'sender_missing':
      return notFound(`The account ${refusal.account} has no active sender of this name.`);
    case 'country_rates_unusable':
      return invalidArgument('--country-rates', `${refusal.fault} (${refusal.field})`);
    case 'live_key_before_top_up':
      return refused('A live key is issued after the first top-up; this account is still in test mode.');
    case 'key_missing':
      return notFound(`There is no key ${refusal.key}.`);
    case 'token_missing':
      return notFound(`There is no token ${refusal.token}.`);
    case 'verified_numbers_used_up':
      return refused(
        `The account ${refusal.account} has ${refusal.limit} verified numbers already; remove one first.`,
      );
    case 'number_not_verified':
      return notFound(`This number is not verified for the account ${refusal.account}.`);
    case 'inbound_disabled':
      return refused(`The account ${refusal.account} receives no replies.`);
    case 'keyword_unsubscribes':
      return refused(`${refusal.word} unsubscribes, and cannot be anybody’s keyword.`);
    case 'keyword_needs_no_consent':
      return refused(`${refusal.word} needs no consent: any account may claim it.`);
    case 'keyword_not_held':
      return notFound(
        `The account ${refusal.account} neither has the keyword ${refusal.word} nor may claim it by consent.`,
      );
    case 'keyword_not_resting':
      return notFound(`The keyword ${refusal.word} does not rest.`);
    case 'top_up_too_small':
      return invalidArgument('--pln', `a top-up is at least ${refusal.minGrosze / 100} PLN net`);
    case 'reference_used':
      return refused(
        `The account ${refusal.account} has another payment with the reference ${refusal.reference}.`,
      );
    case 'month_not_over':
      return invalidArgument(
        '--month',
        `${refusal.month} is not over yet, or has only just ended: its statement may be issued from ${refusal.issuableAt.toISOString()}`,
      );
    case 'statement_exists':
      return refused(`The account ${refusal.account} has a statement for ${refusal.month} already.`);
    case 'statement_missing':
      return notFound(`There is no statement ${refusal.statement}.`);
    case 'statement_paid':
      return refused(`The statement ${refusal.statement} is paid already.`);
    case 'contact_email_missing':
      return refused(`The account ${refusal.account} has no contact address (accounts set --contact-email).`);
    case 'domain_left':
      return refused(
        `Another account's claim gives way, but its domain is still in the list of the provider of ${refusal.routes.join(', ')}: ` +
          'try again, or remove it there by hand first.',
      );
    case 'message_not_due':
      return refused(
        `The send time of the message ${refusal.message} has not come: it cannot have been sent.`,
      );
    case 'email_missing':
      return notFound(`There is no e-mail ${refusal.email}.`);
    case 'email_not_waiting':
      return refused(
        `The e-mail ${refusal.email} is ${refusal.status} (${refusal.submission}); only one that waits, or is unanswered, can be given up.`,
      );
    case 'message_missing':
      return notFound(`There is no message ${refusal.message}.`);
    case 'message_without_workflow':
      return refused(`The message ${refusal.message} has no running workflow. ${ENDED}`);
    case 'message_not_scheduled':
      return refused(`The message ${refusal.message} is not scheduled: it is ${refusal.status}.`);
    case 'message_cancelled_too_late':
      return refused(
        `The message ${refusal.message} was sent before it could be cancelled: it is ${refusal.status}.`,
      );
    case 'message_not_unanswered':
      return refused(`The message ${refusal.message} is not unanswered: it is ${refusal.status}.`);
    case 'message_answered_meanwhile':
      return refused(`The message ${refusal.message} is not unanswered any more.`);
    case 'message_undecidable':
      return refused(
        `The message ${refusal.message} has no running workflow; nothing can be decided for it that way. ${ENDED}`,
      );
    case 'message_not_open':
      return refused(
        `The message ${refusal.message} is ${refusal.status}: only one that is scheduled or queued can be settled.`,
      );
    case 'message_with_workflow':
      return refused(
        `The message ${refusal.message} has a running workflow: see messages cancel, give-up and resubmit.`,
      );
    case 'message_not_ended':
      return refused(
        `The reconciliation has not found that the workflow of the message ${refusal.message} completed before it (workflow_ended).`,
      );
    case 'cancel_not_signalled':
      return new AdminError('unavailable', `Temporal could not be notified (${printable(refusal.fault)}).`);
    case 'decision_not_carried_out':
      return new AdminError('unavailable', `Temporal could not carry it out (${printable(refusal.fault)}).`);
    case 'nothing_unstuck':
      return refused(leftInWords(refusal.why));
    case 'event_not_resent':
      return refused(`The event ${refusal.event}: ${leftInWords(refusal.why)}.`);
    case 'previous_secret_missing':
      return refused(`The account ${refusal.account} has no previous secret in force.`);
    case 'finding_missing':
      return notFound(`There is no finding ${refusal.finding}.`);
    case 'route_missing':
      return notFound(`There is no route ${refusal.route}.`);
    case 'route_exists':
      return refused(`There is already a route ${refusal.route}.`);
    case 'route_not_disabled':
      return refused(`Disable ${refusal.route} first, so that no message takes it meanwhile.`);
    case 'route_used':
      return refused(`Messages have gone through ${refusal.route}: it stays, disabled.`);
    case 'route_not_called':
      return refused(`A route of kind ${refusal.kind} is called by nobody.`);
    case 'route_not_working':
      return new AdminError('unavailable', notWorking(refusal));
    case 'kind_unknown':
      return refused(`This release does not know routes of kind ${printable(refusal.kind)}.`);
    case 'setting_missing':
      return invalidArgument('--settings', printable(`${refusal.setting ?? refusal.kind}: is missing`));
    case 'setting_unusable':
      return invalidArgument(
        '--settings',
        printable(`${refusal.setting ?? refusal.kind}: ${refusal.fault ?? 'cannot be used'}`),
      );
    case 'settings_not_storable':
      return invalidArgument('--settings', 'broken characters are not allowed');
    case 'credentials_needless':
      return refused(`A route of kind ${refusal.kind} has no credentials.`);
    case 'credentials_missing':
      return invalidArgument('--credentials', `is missing: a file with the ${refusal.secret}, - or env:NAME`);
    case 'credentials_unusable':
      return invalidArgument(
        '--credentials',
        refusal.field === null
          ? `${refusal.kind} knows ${refusal.fields.join(', ')} and nothing else`
          : `${refusal.field} is missing or cannot be used`,
      );
    case 'route_without_credentials':
      return refused(`The route ${refusal.route} has no credentials.`);
    case 'credentials_unreadable':
      return refused(
        `The credentials of ${refusal.route} cannot be read with this secrets key; replace them with routes credentials.`,
      );
    case 'secret_not_ours':
      return refused(`A route of kind ${refusal.kind} has no secret of our making.`);
    case 'type_not_carried':
      return invalidArgument('--type', `a route of kind ${refusal.kind} carries no ${refusal.type}`);
    case 'rule_missing':
      return notFound(`There is no rule ${refusal.rule}.`);
    case 'reply_too_long':
      return invalidArgument('--text', `at most ${refusal.limit} characters`);
    case 'secrets_key_unchanged':
      return refused('This is the key that is in use.');
    case 'stored_secret_unreadable':
      return refused('A stored secret cannot be read with the key in use; nothing was changed.');
  }
}

const ENDED = 'Where findings list has it as workflow_ended, see messages settle.';

function notWorking({
  route,
  fault,
  sessions,
}: Extract<StaffRefusal, { reason: 'route_not_working' }>): string {
  const beside =
    sessions === 0
      ? ''
      : `. Running workers have ${sessions} of its sessions open: the provider may allow no more beside them.`;
  return `${route} does not work from here: ${printable(fault)}${beside}`;
}

const CHANGING = { account: 'accounts set', route: 'routes change' } as const;

const RESENDS: Readonly<Record<ResendRefusal['reason'], string>> = {
  event_unknown: 'there is no such event',
  webhook_missing: 'its account has no webhook',
  event_pending: 'it is still being delivered',
  resends_used_up: 'it was delivered again ten times already',
  resends_at_once: 'too many of its account are being delivered again',
};

/** Those of several that are not carried out, or not known to be, each with why. */
export function leftAmong(
  all: readonly ActedOn<StaffRefusal | ResendRefusal>[],
): { id: string; reason: string }[] {
  return all
    .filter(({ carriedOut }) => carriedOut !== true)
    .map(({ id, why }) => ({ id, reason: leftInWords(why) }));
}

/** Why one of several was left as it is; null: nobody answered. */
export function leftInWords(why: ActedOn<StaffRefusal | ResendRefusal>['why']): string {
  if (why === null) return 'no worker answered in time; it may still be carried out';
  if (why === 'not_tried') return 'it was not tried, after the error before';
  if (why instanceof StaffRefused) return leftInWords(why.refusal);
  if (why instanceof Error) return printable(why.message);
  if (!isOfResend(why)) return printable(ofStaff(why).message);
  const again = why.reason === 'event_pending' && why.again;
  return again ? 'it is being delivered again already' : RESENDS[why.reason];
}

function isOfResend(why: StaffRefusal | ResendRefusal): why is ResendRefusal {
  return why.reason in RESENDS;
}
