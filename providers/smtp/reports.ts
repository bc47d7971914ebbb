import { createHash } from 'node:crypto';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import { reportsDead } from './deadAddresses.ts';
import { fieldGroups, type Fields, type Part, type ReadMessage, readMessage } from './message.ts';

const RECIPIENTS_MAX = 100;
const FIELD_MAX = 1_000;
const FIELD_BYTES = 4 * FIELD_MAX;
const TEXT_MAX = 4_000;
const ADDRESS_MAX = 320;
const DAEMON = /^(mailer-daemon|postmaster|root)(@|$)/i;
// In the words of Exim and sendmail, which go on trying.
const STILL_TRYING = /\bdelay(ed)?\b|\bstill (being )?(retr|try)|could not send message for past/i;
const NO_ADDRESS = /[\s<>,;:"]+/;
// Feedback that is no complaint (RFC 6430, RFC 6591).
const NO_COMPLAINTS = new Set(['not-spam', 'auth-failure', 'dmarc']);
const AWAY =
  /^(out of (the )?office|automatic reply|auto(-| )?reply|autoreply|odpowied[zź] automatyczna|automatyczna odpowied[zź]|poza biurem|nieobecno[sś][cć])/i;

export interface Returned {
  returnPath: string;
  emailId: string;
  /** From the envelope; empty for bounces. */
  sender: string;
  raw: Buffer;
  bytes: number;
}

/** Reads delivery reports (RFC 3464), complaints (RFC 5965) and plain bounces. None for automatic replies and people's mail. */
export function readReturned({ raw, bytes, ...returned }: Returned): ProviderEmailEvent[] {
  const message = readMessage(raw);
  const found =
    deliveryReports(message) ?? complaints(message) ?? plainBounce(message, returned.sender, bytes);
  const at = new Date();
  return found.slice(0, RECIPIENTS_MAX).map(({ kind, permanent, addresses, payload, mark }) => ({
    eventId: eventId(returned.returnPath, addresses, mark, message),
    emailId: returned.emailId,
    providerEmailId: null,
    kind,
    permanent,
    addresses,
    at,
    payload,
    // Every recipient sees the return path in the e-mail, and can forge a report.
    unverified: true,
  }));
}

interface Found {
  kind: 'bounced' | 'delayed' | 'delivered' | 'complained';
  permanent: boolean | null;
  addresses: string[];
  payload: Record<string, unknown>;
  mark: string;
}

function deliveryReports({ parts, headers }: ReadMessage): Found[] | null {
  const status = partOf(parts, 'message/delivery-status', 'message/global-delivery-status');
  if (status === null) return null;
  const [ofMessage, ...ofRecipients] = fieldGroups(status.text, RECIPIENTS_MAX + 1);
  // Some servers write a single group.
  const groups = ofRecipients.length === 0 && ofMessage !== undefined ? [ofMessage] : ofRecipients;
  return groups.flatMap((fields) => {
    const action =
      fields
        .get('action')
        ?.split(/[\s;(]/, 1)[0]
        ?.toLowerCase() ?? '';
    const what = ofAction(action, fields);
    if (what === null) return [];
    const address = typed(fields.get('original-recipient')) ?? typed(fields.get('final-recipient'));
    // Without an address it would apply to all recipients: count it as a temporary bounce at most.
    if (address === null && what.kind !== 'bounced') return [];
    const permanent = address === null && what.permanent !== null ? false : what.permanent;
    const payload = {
      ...pick(fields, 'action', 'status', 'diagnostic-code', 'remote-mta', 'final-recipient'),
      ...pick(ofMessage ?? new Map(), 'reporting-mta', 'arrival-date'),
      ...pick(headers, 'message-id'),
    };
    const mark = `${action} ${ofMessage?.get('reporting-mta')?.slice(0, FIELD_MAX) ?? ''}`;
    return [{ kind: what.kind, permanent, addresses: address === null ? [] : [address], payload, mark }];
  });
}

function ofAction(action: string, fields: Fields): Pick<Found, 'kind' | 'permanent'> | null {
  switch (action) {
    case 'failed':
      return {
        kind: 'bounced',
        permanent: reportsDead(fields.get('status') ?? '', fields.get('diagnostic-code') ?? ''),
      };
    case 'delayed':
      return { kind: 'delayed', permanent: null };
    case 'delivered':
    case 'relayed':
    case 'expanded':
      return { kind: 'delivered', permanent: null };
    default:
      return null;
  }
}

function complaints({ parts, headers }: ReadMessage): Found[] | null {
  const feedback = partOf(parts, 'message/feedback-report');
  if (feedback === null) return null;
  const fields: Fields = fieldGroups(feedback.text, 1)[0] ?? new Map<string, string>();
  const type = fields.get('feedback-type')?.slice(0, FIELD_MAX).toLowerCase() ?? '';
  if (type === '' || NO_COMPLAINTS.has(type)) return [];
  const address = typed(fields.get('original-rcpt-to'));
  const payload = {
    ...pick(fields, 'feedback-type', 'user-agent', 'arrival-date', 'reporting-mta'),
    ...pick(headers, 'message-id'),
  };
  const addresses = address === null ? [] : [address];
  return [{ kind: 'complained', permanent: null, addresses, payload, mark: `complained ${type}` }];
}

// Without a report it is unknown whether the address will ever accept e-mail.
function plainBounce(message: ReadMessage, sender: string, bytes: number): Found[] {
  const { headers, parts } = message;
  const failed = headers.get('x-failed-recipients');
  const isReturned =
    isFromDaemon(headers) || ((sender === '' || DAEMON.test(sender)) && !isAutomatic(headers));
  if (failed === undefined && (!isReturned || STILL_TRYING.test(headers.get('subject') ?? ''))) return [];
  const addresses = (failed ?? '')
    .split(',', RECIPIENTS_MAX)
    .flatMap((one) => addressIn(one.slice(0, ADDRESS_MAX)) ?? []);
  const text = parts.find(({ type }) => type === 'text/plain')?.text ?? '';
  const payload = { ...pick(headers, 'subject', 'message-id'), text: clean(text, TEXT_MAX).trimEnd(), bytes };
  return [{ kind: 'bounced', permanent: false, addresses, payload, mark: 'bounced' }];
}

function isFromDaemon(headers: Fields): boolean {
  const from = headers.get('from')?.slice(0, FIELD_MAX) ?? '';
  return DAEMON.test((/<([^<>]*)>[^<>]*$/.exec(from)?.[1] ?? from).trim());
}

// RFC 3834, and the headers in use before it.
function isAutomatic(headers: Fields): boolean {
  const submitted = headers.get('auto-submitted')?.toLowerCase() ?? 'no';
  if (!submitted.startsWith('no')) return true;
  const others = [
    'x-autoreply',
    'x-autorespond',
    'x-autoresponder',
    'x-vacation',
    'x-auto-response-suppress',
  ];
  if (others.some((name) => headers.has(name))) return true;
  return /auto[-_]?reply/i.test(headers.get('precedence') ?? '') || AWAY.test(headers.get('subject') ?? '');
}

function partOf(parts: readonly Part[], ...types: string[]): Part | null {
  return parts.find(({ type }) => types.includes(type)) ?? null;
}

function typed(field: string | undefined): string | null {
  if (field === undefined) return null;
  const value = field.slice(0, 2 * ADDRESS_MAX).replace(/^[^;@]*;/, '');
  return addressIn(value);
}

function addressIn(text: string): string | null {
  const found = text.split(NO_ADDRESS).find((one) => one.slice(1, -1).includes('@'));
  return clean(found ?? '', ADDRESS_MAX) || null;
}

function pick(fields: Fields, ...names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = fields.get(name);
      return value === undefined
        ? []
        : [[name, clean(Buffer.from(value.slice(0, FIELD_BYTES), 'latin1').toString('utf8'), FIELD_MAX)]];
    }),
  );
}

// PostgreSQL stores neither NUL nor unpaired surrogates.
function clean(text: string, most: number): string {
  return text
    .slice(0, most)
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

function eventId(
  returnPath: string,
  addresses: readonly string[],
  mark: string,
  { headers }: ReadMessage,
): string {
  const which = (headers.get('message-id') ?? headers.get('date') ?? '').slice(0, FIELD_MAX);
  const all = JSON.stringify([returnPath.toLowerCase(), addresses, mark, which]);
  return createHash('sha256').update(all).digest('hex');
}
