import type { Channel } from './channelDeclaration.ts';
import type { QuotaName } from './money.ts';
import type { RouteTraffic } from './routing.ts';
import type { ReachedLimit } from './verifications.ts';

/** Why a dependency (database, Temporal) gave no answer: unreachable, or too slow. */
export type Outage = 'unavailable' | 'timed_out';

export type SmilFault =
  | 'not_xml'
  | 'construct'
  | 'element'
  | 'attribute'
  | 'placeholder'
  | 'source_missing'
  | 'source_address'
  | 'text_misplaced'
  | 'too_deep'
  | 'too_large'
  | 'body_missing'
  | 'media_missing';

/** Why a request is refused, as data: no status, no sentence. Each interface (HTTP, tools, command line) words it for its users. */
export type Refusal = Why & {
  /** The refused value as it was given. */
  given?: string;
};

type Why =
  | { reason: 'account_not_migrated' }
  | { reason: 'account_suspended' | 'account_closed' | 'test_key_on_live_account' }
  | { reason: 'scope_missing'; scope: string }
  | { reason: 'rate_limited'; seconds: number }
  | { reason: 'too_many_at_once' | 'too_many_heavy_at_once'; limit: number; seconds: number }
  | { reason: 'message_unknown' }
  | { reason: 'group_unknown' | 'group_empty'; group: string }
  | { reason: 'groups_too_many'; limit: number }
  | { reason: 'body_not_object' }
  | { reason: 'field_missing' | 'field_unknown' | 'field_malformed' | 'field_blank'; field: string }
  | { reason: 'parameter_unknown' | 'plus_not_encoded'; field: string }
  | { reason: 'sender_malformed'; field: string }
  | { reason: 'field_type'; field: string; expected: string }
  | {
      reason: 'field_too_short' | 'field_too_long';
      field: string;
      limit: number;
      /** What is counted; `value`: the number itself. */
      unit: 'characters' | 'items' | 'value';
    }
  | { reason: 'number_out_of_range'; field: string; min: number; max: number }
  | { reason: 'one_of'; field: string; values: readonly string[] }
  | { reason: 'characters_forbidden'; field: string }
  | { reason: 'idempotency_other_content' | 'idempotency_in_progress' }
  | { reason: 'recipient_malformed' | 'recipient_too_long'; index: number | null }
  | { reason: 'number_malformed' | 'polish_number_too_long'; field: string }
  | { reason: 'recipients_empty' }
  /** Positions in the list, from 1. */
  | { reason: 'recipients_malformed'; positions: readonly number[] }
  | { reason: 'recipients_too_many'; limit: number }
  | { reason: 'recipient_unverified'; index: number | null }
  | { reason: 'no_route'; index: number | null }
  | { reason: 'sender_inactive'; sender: string }
  // `isMore`: at least this many; the rest was not counted.
  | { reason: 'text_too_long'; parts: number; limit: number; index: number | null; isMore?: true }
  | { reason: 'text_not_gsm7'; character: string; position: number; index: number | null }
  | { reason: 'text_empty' | 'text_blank'; index: number | null }
  | { reason: 'link_malformed' | 'placeholder_malformed'; source: string; position: number }
  | { reason: 'links_too_many' | 'placeholders_too_many'; limit: number }
  | { reason: 'template_unknown' | 'params_without_template' }
  | { reason: 'template_type'; channel: Channel }
  | { reason: 'smil_malformed'; what: SmilFault; line: number; name: string | null }
  | { reason: 'foreign_price_missing'; index: number | null }
  | { reason: 'sender_not_number'; sender: string }
  | { reason: 'calling_hours_missed' | 'links_unheard' }
  | { reason: 'params_repeated'; key: string }
  | { reason: 'send_at_too_far'; days: number }
  | { reason: 'instant_malformed' | 'window_malformed'; field: string }
  | {
      reason:
        | 'expires_at_out_of_range'
        | 'settings_empty'
        | 'prefix_malformed'
        | 'prefix_reserved'
        | 'prefix_everyday'
        | 'prefix_resting'
        | 'prefix_changes'
        | 'prefix_taken';
    }
  /** Seconds until the next change is allowed. */
  | { reason: 'changes_too_many'; limit: number; seconds: number }
  | { reason: 'insufficient_funds' | 'statement_overdue' }
  /** Tool calls: the rest of the key's daily budget does not cover this one; grosze net. */
  | { reason: 'tool_budget_reached'; limitGrosze: number; costGrosze: number }
  | {
      reason:
        'lookup_unverified' | 'lookup_unpaid' | 'lookup_failed' | 'lookup_no_route' | 'lookup_timed_out';
    }
  | { reason: 'not_cancellable' }
  | { reason: 'recipient_not_mobile' | 'recipient_blacklisted' }
  | { reason: 'verification_unknown' | 'verification_over' }
  | ({ reason: 'codes_too_many' } & ReachedLimit)
  | { reason: 'email_unknown' | 'email_no_route' | 'email_content_missing' | 'address_not_own' }
  | { reason: 'address_malformed' | 'address_repeated' | 'display_name_malformed'; field: string }
  | { reason: 'address_not_listed' | 'sender_domain_missing' | 'unsubscribe_needs_one' }
  | { reason: 'sender_domain_unverified'; domain: string }
  | { reason: 'header_not_allowed' | 'header_malformed' | 'header_repeated'; header: string }
  /** Positions in the list, from 0. */
  | { reason: 'attachment_type' | 'attachment_not_base64'; index: number }
  | { reason: 'attachments_too_large'; limitBytes: number }
  | { reason: 'contact_unknown' | 'contact_not_in_group' | 'contact_number_taken' | 'contact_not_object' }
  | { reason: 'contacts_too_many' | 'members_too_many' | 'fields_too_many'; limit: number }
  /** `contacts`: how many are in that many groups already; `first`: the first of them, as given. */
  | { reason: 'contact_groups_too_many'; contacts: number; first: string; limit: number }
  | { reason: 'quota_reached'; quota: QuotaName; limit: number }
  | { reason: 'members_missing' }
  | { reason: 'field_key_malformed' | 'field_key_reserved' | 'field_key_repeated'; key: string }
  | { reason: 'field_value_malformed'; key: string; limit: number }
  | {
      reason:
        'domain_malformed' | 'domain_exists' | 'domain_taken' | 'domain_unknown' | 'domain_not_verified';
    }
  | { reason: 'domains_too_many' | 'sender_requests_too_many'; limit: number }
  | { reason: 'sender_known' }
  | { reason: 'nip_malformed' | 'postal_code_malformed' }
  | { reason: 'group_exists'; group: string }
  | { reason: 'group_name_like_id' }
  | { reason: 'cursor_malformed' }
  | { reason: 'alert_addresses_too_many'; limit: number }
  | { reason: 'search_too_long'; limit: number }
  | { reason: 'day_malformed'; field: string }
  | { reason: 'period_reversed' }
  | { reason: 'period_too_long'; limit: number }
  | { reason: 'field_exclusive'; field: string; other: string }
  | { reason: 'instant_past'; field: string }
  | { reason: 'number_not_listed' }
  | { reason: 'link_unknown' }
  | { reason: 'inbound_unknown' }
  | ResendRefusal
  | { reason: 'template_subject' | 'template_empty' }
  | {
      reason:
        'url_malformed' | 'url_scheme' | 'url_credentials' | 'url_fragment' | 'url_port' | 'url_private';
    }
  | {
      reason: 'send_abandoned' | 'send_unresolved' | 'lookup_abandoned' | 'lookup_unresolved';
      outage: Outage;
    }
  | { reason: 'backlog_full'; seconds: number }
  | { reason: Outage };

export type ResendRefusal =
  | { reason: 'event_unknown' | 'webhook_missing' }
  /** `again`: the pending delivery is itself a resend. */
  | { reason: 'event_pending'; again: boolean }
  | { reason: 'resends_used_up'; limit: number }
  | { reason: 'resends_at_once'; limit: number; seconds: number };

export type OfReason<Of, R extends string> = Of extends { reason: infer Own }
  ? R extends Own
    ? Of
    : never
  : never;

export abstract class RefusalError<Why extends { reason: string }> extends Error {
  readonly refusal: Why;
  /** The offending field, parameter or header; null where there is none. */
  readonly param: string | null;

  constructor(refusal: Why, param?: string, cause?: unknown) {
    super(refusal.reason, cause === undefined ? undefined : { cause });
    this.refusal = refusal;
    this.param = param ?? null;
  }
}

/** Thrown when a request is refused: open transactions roll back, and the interface renders the refusal. */
export class Refused extends RefusalError<Refusal> {
  override readonly name = 'Refused';
}

/** Why a staff request is refused; accounts, messages and days named in it are staff's own input. */
export type StaffRefusal =
  | { reason: 'account_missing' | 'account_not_open' | 'account_prepaid'; account: string }
  | { reason: 'person_missing' | 'staff_missing'; address: string }
  | { reason: 'staff_exists'; address: string; name: string }
  | { reason: 'approvals_too_many' }
  | { reason: 'approval_missing'; approval: string }
  | { reason: 'nothing_to_change'; of: 'account' | 'route' }
  | { reason: 'sender_missing'; account: string }
  | { reason: 'sender_request_missing'; request: string }
  | { reason: 'sender_request_decided'; request: string; state: string }
  /** `fault`: the domain's message about the field. */
  | { reason: 'country_rates_unusable'; field: string; fault: string }
  | { reason: 'live_key_before_top_up' }
  | { reason: 'key_missing'; key: string }
  /** Or a token. */
  | { reason: 'key_ends_soon'; key: string }
  | { reason: 'keys_too_many'; account: string; limit: number }
  | { reason: 'token_missing'; token: string }
  | { reason: 'verified_numbers_used_up'; account: string; limit: number }
  | { reason: 'number_not_verified'; account: string }
  | { reason: 'inbound_disabled'; account: string }
  | { reason: 'keyword_unsubscribes' | 'keyword_needs_no_consent' | 'keyword_not_resting'; word: string }
  | { reason: 'keyword_not_held'; account: string; word: string }
  | { reason: 'reply_missing' | 'reply_not_unmatched'; reply: string }
  | { reason: 'top_up_too_small'; minGrosze: number }
  /** The reference belongs to a payment of another kind or amount. */
  | { reason: 'reference_used'; account: string; reference: string }
  /** The month is not over, or charges for it may still be booked. */
  | { reason: 'month_not_over'; month: string; issuableAt: Date }
  | { reason: 'statement_exists'; account: string; month: string }
  | { reason: 'statement_missing' | 'statement_paid'; statement: string }
  | { reason: 'payment_missing'; payment: string }
  /** `fault`: what is left of it, or the processor's message. */
  | { reason: 'payment_not_refundable'; payment: string; fault: string }
  /** `month` is to be exported first. */
  | { reason: 'invoices_out_of_order'; month: string }
  /** `invoice_number_used`: another document has the number, or the number in KSeF. */
  | { reason: 'invoice_missing' | 'invoice_number_used'; document: string }
  | { reason: 'contact_email_missing'; account: string }
  /** The providers of these routes still have the domain of the previous account. */
  | { reason: 'domain_left'; routes: readonly string[] }
  | { reason: 'message_missing' | 'message_without_workflow'; message: string }
  | { reason: 'message_not_scheduled' | 'message_cancelled_too_late'; message: string; status: string }
  | { reason: 'message_not_unanswered'; message: string; status: string }
  | { reason: 'message_not_open'; message: string; status: string }
  | { reason: 'message_with_workflow' | 'message_not_ended' | 'message_not_due'; message: string }
  /** Nothing is left of it that tells whose it was. */
  | { reason: 'erased_already'; subject: string }
  | { reason: 'email_missing'; email: string }
  | { reason: 'email_not_waiting'; email: string; status: string; submission: string }
  | { reason: 'message_answered_meanwhile' | 'message_undecidable'; message: string }
  /** These are not ids of what the action is for. */
  | { reason: 'bulk_items_malformed'; action: string }
  | { reason: 'bulk_missing' | 'bulk_ended'; bulk: string }
  | RouteRefusal
  | { reason: 'reply_too_long'; limit: number }
  /** `fault`: the Temporal client's message. */
  | { reason: 'cancel_not_signalled' | 'decision_not_carried_out'; fault: string }
  | { reason: 'event_not_resent'; event: string; why: ResendRefusal }
  | { reason: 'previous_secret_missing'; account: string }
  | { reason: 'finding_missing'; finding: number }
  | { reason: 'secrets_key_unchanged' | 'stored_secret_unreadable' };

/** Why a staff request about routes is refused; contains nothing of credentials. */
type RouteRefusal =
  | {
      reason:
        | 'route_missing'
        | 'route_exists'
        | 'route_not_disabled'
        | 'route_used'
        | 'route_without_credentials'
        | 'credentials_unreadable';
      route: string;
    }
  | { reason: 'kind_unknown' | 'credentials_needless' | 'route_not_called' | 'secret_not_ours'; kind: string }
  /** `setting` is null where the kind rejects all settings together; `fault` is the kind's message. */
  | { reason: 'setting_missing'; kind: string; setting: string | null }
  | { reason: 'setting_unusable'; kind: string; setting: string | null; fault: string | null }
  | { reason: 'settings_not_storable' }
  /** `secret`: the kind's name for it. */
  | { reason: 'credentials_missing'; secret: string }
  /** `field` is null where there are others than the kind's `fields`. */
  | { reason: 'credentials_unusable'; kind: string; field: string | null; fields: readonly string[] }
  /** `fault`: the provider's or the network's message; `sessions`: those open on running workers. */
  | { reason: 'route_not_working'; route: string; fault: string; sessions: number }
  | { reason: 'type_not_carried'; kind: string; type: RouteTraffic }
  | { reason: 'rule_missing'; rule: number };

/** {@link Refused} for staff requests. */
export class StaffRefused extends RefusalError<StaffRefusal> {
  override readonly name = 'StaffRefused';
}
