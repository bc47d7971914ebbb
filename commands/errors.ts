import { DriverProblem } from '../db/connection.ts';
import {
  type OfReason,
  type Refusal,
  Refused,
  type ResendRefusal,
  type StaffRefusal,
  StaffRefused,
} from '../domain/refusals.ts';
import { errorCode, errorText } from '../domain/errors.ts';
import { printable } from './output.ts';

type Code = 'invalid_argument' | 'not_found' | 'refused' | 'unavailable';

/** `code` is for programs, the message is one sentence for people. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  constructor(
    readonly code: Code,
    message: string,
    /** The one to blame, as typed: `--price`, `KEY_ID`. */
    readonly option: string | null = null,
  ) {
    super(message);
  }
}

/** @param option its name as typed (`--price`, `KEY_ID`) */
export function invalidArgument(option: string, reason: string): AdminError {
  return new AdminError('invalid_argument', `${option}: ${reason}`, option);
}

export function notFound(what: string): AdminError {
  return new AdminError('not_found', what);
}

/** For a well-formed command that the current state does not allow. */
export function refused(reason: string): AdminError {
  return new AdminError('refused', reason);
}

/** Any error as a code and one sentence; never a URL with its password. */
export function describeError(error: unknown): { code: string; message: string } {
  const { code, message } =
    error instanceof Refused || error instanceof StaffRefused
      ? refusalInWords(error)
      : error instanceof AdminError
        ? error
        : failureInWords(error);
  return { code, message: printable(message) };
}

const NO_SUCH_TABLE = '42P01';
const UNREACHABLE = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|CONNECT_TIMEOUT|CONNECTION_)/;
// Classes of SQLSTATE.
const REFUSED_BY_DATABASE = /^(08|28|3D|53|57)/;

function failureInWords(error: unknown): { code: string; message: string } {
  const state = errorCode(error) ?? '';
  const unavailable = (message: string) => ({ code: 'unavailable', message });
  if (error instanceof DriverProblem) return unavailable(error.message);
  if (state === NO_SUCH_TABLE) return unavailable('The database has no schema yet; run npm run migrate.');
  if (UNREACHABLE.test(state)) return unavailable(`The database cannot be reached (${state}).`);
  const text = errorText(error).replace(/\s+/g, ' ').replace(/\.$/, '');
  if (REFUSED_BY_DATABASE.test(state)) return unavailable(`The database refuses to serve: ${text}.`);
  return { code: 'internal_error', message: `Unexpected failure: ${text}.` };
}

/** An operation's refusal, with the option to blame. */
export function refusalInWords(error: Refused | StaffRefused): AdminError {
  return error instanceof Refused ? ofBoth(error.refusal) : ofStaff(error.refusal);
}

const ARGUMENTS_OF_BOTH: Partial<Record<Refusal['reason'], [option: string, fault: string]>> = {
  sender_inactive: ['--sender', 'the account has no active sender of this name (see senders add)'],
  window_malformed: ['--send-window', 'HH:MM-HH:MM, at least 15 minutes wide, or none is needed'],
  address_malformed: ['--contact-email', 'an address such as jan@example.com, or none, is needed'],
  url_malformed: ['--url', 'this is no address'],
  url_scheme: ['--url', 'https:// is needed'],
  url_credentials: ['--url', 'a user or password is not allowed'],
  url_fragment: ['--url', 'a part behind # is not allowed'],
  url_port: ['--url', 'port 443, or one from 1024 on that no other service is known for, is needed'],
  url_private: ['--url', 'the address has to be public'],
  nip_malformed: ['--nip', 'ten digits with the right checksum are needed'],
  postal_code_malformed: ['--postal-code', 'a postal code such as 00-950 is needed'],
  characters_forbidden: ['--name', 'characters that are not seen are not allowed, in the address neither'],
  domain_malformed: ['--name', 'a domain such as sklep.example is needed, without a dot at its end'],
  domain_exists: ['--name', 'the account has this sender domain already'],
  domain_taken: ['--name', 'another account has this sender domain'],
  domain_not_verified: ['--name', 'this sender domain is not verified (see domains check)'],
};

// The API's refusals that staff can meet.
function ofBoth(refusal: Refusal): AdminError {
  if (refusal.reason === 'domain_unknown') return notFound('The account has no such sender domain.');
  if (refusal.reason === 'field_missing')
    return invalidArgument(`--${refusal.field.replaceAll('_', '-')}`, 'is missing');
  if (refusal.reason === 'domains_too_many')
    return refused(`The account has ${refusal.limit} sender domains already; remove one first.`);
  const argument = ARGUMENTS_OF_BOTH[refusal.reason];
  return argument === undefined
    ? refused(`This is refused: ${refusal.reason}.`)
    : invalidArgument(...argument);
}

type Reason = StaffRefusal['reason'];

type Sentences = { [R in Reason]: (refusal: OfReason<StaffRefusal, R>) => string };

const ENDED = 'Where findings list has it as workflow_ended, see messages settle.';
const CHANGING = { account: 'accounts set', route: 'routes change' } as const;

const NOT_FOUND = {
  account_missing: ({ account }) => `There is no account ${account}.`,
  sender_missing: ({ account }) => `The account ${account} has no active sender of this name.`,
  sender_request_missing: ({ request }) => `There is no request ${request} for a sender.`,
  key_missing: ({ key }) => `There is no key ${key}.`,
  token_missing: ({ token }) => `There is no token ${token}.`,
  number_not_verified: ({ account }) => `This number is not verified for the account ${account}.`,
  keyword_not_held: ({ account, word }) =>
    `The account ${account} neither has the keyword ${word} nor may claim it by consent.`,
  keyword_not_resting: ({ word }) => `The keyword ${word} does not rest.`,
  reply_missing: ({ reply }) => `There is no reply ${reply}.`,
  statement_missing: ({ statement }) => `There is no statement ${statement}.`,
  payment_missing: ({ payment }) => `There is no payment ${payment}.`,
  invoice_missing: ({ document }) => `There is no document ${document}, or it was never exported.`,
  message_missing: ({ message }) => `There is no message ${message}.`,
  email_missing: ({ email }) => `There is no e-mail ${email}.`,
  person_missing: ({ address }) => `Nobody signs in by ${address}.`,
  approval_missing: ({ approval }) =>
    `There is nothing to approve as ${approval}, or it was you who asked for it.`,
  staff_missing: ({ address }) => `Nobody of staff has the address ${address}.`,
  finding_missing: ({ finding }) => `There is no finding ${finding}.`,
  route_missing: ({ route }) => `There is no route ${route}.`,
  rule_missing: ({ rule }) => `There is no rule ${rule}.`,
  bulk_missing: ({ bulk }) => `There is no bulk ${bulk}.`,
} satisfies Partial<Sentences>;

const INVALID_ARGUMENT = {
  nothing_to_change: ({ of }) => `${CHANGING[of]}: name at least one setting to change`,
  country_rates_unusable: ({ fault, field }) => `--country-rates: ${fault} (${field})`,
  top_up_too_small: ({ minGrosze }) => `--pln: a top-up is at least ${minGrosze / 100} PLN net`,
  month_not_over: ({ month, issuableAt }) =>
    `--month: ${month} is not over yet, or has only just ended: its statement may be issued from ${issuableAt.toISOString()}`,
  setting_missing: ({ setting, kind }) => `--settings: ${setting ?? kind}: is missing`,
  setting_unusable: ({ setting, kind, fault }) =>
    `--settings: ${setting ?? kind}: ${fault ?? 'cannot be used'}`,
  settings_not_storable: () => '--settings: broken characters are not allowed',
  credentials_missing: ({ secret }) => `--credentials: is missing: a file with the ${secret}, - or env:NAME`,
  credentials_unusable: ({ kind, field, fields }) =>
    field === null
      ? `--credentials: ${kind} knows ${fields.join(', ')} and nothing else`
      : `--credentials: ${field} is missing or cannot be used`,
  type_not_carried: ({ kind, type }) => `--type: a route of kind ${kind} carries no ${type}`,
  bulk_items_malformed: ({ action }) => `--id: these are not all ids of what ${action} is for`,
  reply_too_long: ({ limit }) => `--text: at most ${limit} characters`,
} satisfies Partial<Sentences>;

const UNAVAILABLE = {
  cancel_not_signalled: ({ fault }) => `Temporal could not be notified (${fault}).`,
  decision_not_carried_out: ({ fault }) => `Temporal could not carry it out (${fault}).`,
  route_not_working: ({ route, fault, sessions }) => {
    const sentence = `${route} does not work from here: ${fault}`;
    if (sessions === 0) return sentence;
    return `${sentence}. Running workers have ${sessions} of its sessions open: the provider may allow no more beside them.`;
  },
} satisfies Partial<Sentences>;

const REFUSED = {
  keys_too_many: ({ account, limit }) =>
    `The account ${account} has had ${limit} keys and tokens, which is the most.`,
  account_not_open: ({ account }) => `The account ${account} is closed.`,
  account_prepaid: ({ account }) => `The account ${account} is prepaid; statements are for postpaid ones.`,
  key_ends_soon: ({ key }) => `${key} ends within a day: it has been rotated, or needs no successor.`,
  live_key_before_top_up: () => 'A live key is issued after the first top-up; the account is in test mode.',
  sender_request_decided: ({ request, state }) => `The request ${request} is ${state} already.`,
  verified_numbers_used_up: ({ account, limit }) =>
    `The account ${account} has ${limit} verified numbers already; remove one first.`,
  inbound_disabled: ({ account }) => `The account ${account} receives no replies.`,
  keyword_unsubscribes: ({ word }) => `${word} unsubscribes, and cannot be anybody’s keyword.`,
  keyword_needs_no_consent: ({ word }) => `${word} needs no consent: any account may claim it.`,
  reply_not_unmatched: ({ reply }) =>
    `The reply ${reply} does not wait for staff: it belongs to an account, is not matched yet, or is erased.`,
  reference_used: ({ account, reference }) =>
    `The account ${account} has another payment with the reference ${reference}.`,
  statement_exists: ({ account, month }) => `The account ${account} has a statement for ${month} already.`,
  payment_not_refundable: ({ payment, fault }) => `The payment ${payment} cannot be refunded so: ${fault}.`,
  invoices_out_of_order: ({ month }) => `Corrections of ${month} have no documents: export that month first.`,
  invoice_number_used: ({ document }) => `Another document has this number of ${document} already.`,
  statement_paid: ({ statement }) => `The statement ${statement} is paid already.`,
  contact_email_missing: ({ account }) =>
    `The account ${account} has no contact address (accounts set --contact-email).`,
  domain_left: ({ routes }) =>
    `Another account's claim gives way, but its domain is still in the list of the provider of ${routes.join(', ')}: try again, or remove it there by hand first.`,
  message_not_due: ({ message }) =>
    `The send time of the message ${message} has not come: it cannot have been sent.`,
  message_without_workflow: ({ message }) => `The message ${message} has no running workflow. ${ENDED}`,
  message_not_scheduled: ({ message, status }) => `The message ${message} is not scheduled: it is ${status}.`,
  message_cancelled_too_late: ({ message, status }) =>
    `The message ${message} was sent before it could be cancelled: it is ${status}.`,
  message_not_unanswered: ({ message, status }) =>
    `The message ${message} is not unanswered: it is ${status}.`,
  message_answered_meanwhile: ({ message }) => `The message ${message} is not unanswered any more.`,
  message_undecidable: ({ message }) =>
    `The message ${message} has no running workflow; nothing can be decided for it that way. ${ENDED}`,
  message_not_open: ({ message, status }) =>
    `The message ${message} is ${status}: only one that is scheduled or queued can be settled.`,
  message_with_workflow: ({ message }) =>
    `The message ${message} has a running workflow: see messages cancel, give-up and resubmit.`,
  message_not_ended: ({ message }) =>
    `The reconciliation has not found that the workflow of the message ${message} completed before it (workflow_ended).`,
  approvals_too_many: () => 'Too much waits for approval already.',
  staff_exists: ({ address, name }) => `Somebody of staff has the address ${address} or the name ${name}.`,
  email_not_waiting: ({ email, status, submission }) =>
    `The e-mail ${email} is ${status} (${submission}); only one that waits, or is unanswered, can be given up.`,
  bulk_ended: ({ bulk }) => `The bulk ${bulk} has ended.`,
  erased_already: ({ subject }) => `Number and text of ${subject} are erased already.`,
  event_not_resent: ({ event, why }) => `The event ${event}: ${leftInWords(why)}.`,
  previous_secret_missing: ({ account }) => `The account ${account} has no previous secret in force.`,
  route_exists: ({ route }) => `There is already a route ${route}.`,
  route_not_disabled: ({ route }) => `Disable ${route} first, so that no message takes it meanwhile.`,
  route_used: ({ route }) => `Messages have gone through ${route}: it stays, disabled.`,
  route_not_called: ({ kind }) => `A route of kind ${kind} is called by nobody.`,
  kind_unknown: ({ kind }) => `This release does not know routes of kind ${kind}.`,
  credentials_needless: ({ kind }) => `A route of kind ${kind} has no credentials.`,
  route_without_credentials: ({ route }) => `The route ${route} has no credentials.`,
  credentials_unreadable: ({ route }) =>
    `The credentials of ${route} cannot be read with this secrets key; replace them with routes credentials.`,
  secret_not_ours: ({ kind }) => `A route of kind ${kind} has no secret of our making.`,
  secrets_key_unchanged: () => 'This is the key that is in use.',
  stored_secret_unreadable: () => 'A stored secret cannot be read with the key in use; nothing was changed.',
} satisfies Partial<Sentences>;

const SENTENCES: Sentences = { ...NOT_FOUND, ...INVALID_ARGUMENT, ...UNAVAILABLE, ...REFUSED };

function ofStaff(refusal: StaffRefusal): AdminError {
  const { reason } = refusal;
  // Each sentence takes the refusal of its own reason, which the compiler cannot follow through the index.
  const sentence = SENTENCES[reason] as (refusal: StaffRefusal) => string;
  return new AdminError(codeOf(reason), sentence(refusal));
}

function codeOf(reason: Reason): Code {
  if (reason in NOT_FOUND) return 'not_found';
  if (reason in INVALID_ARGUMENT) return 'invalid_argument';
  return reason in UNAVAILABLE ? 'unavailable' : 'refused';
}

const OF_RESEND: Readonly<Record<ResendRefusal['reason'], string>> = {
  event_unknown: 'there is no such event',
  webhook_missing: 'its account has no webhook',
  event_pending: 'it is still being delivered',
  resends_used_up: 'it was delivered again ten times already',
  resends_at_once: 'too many of its account are being delivered again',
};

/** Why one of several was not done; null: no worker answered. */
export function leftInWords(why: StaffRefusal | ResendRefusal | null): string {
  if (why === null) return 'no worker answered in time; it may still be carried out';
  if (!isOfResend(why)) return ofStaff(why).message;
  const again = why.reason === 'event_pending' && why.again;
  return again ? 'it is being delivered again already' : OF_RESEND[why.reason];
}

function isOfResend(why: StaffRefusal | ResendRefusal): why is ResendRefusal {
  return why.reason in OF_RESEND;
}
