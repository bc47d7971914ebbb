import { notifiedKind, type ProviderEmailEvent } from './statuses.ts';

export interface NotifiedEmailEvent {
  kind: ProviderEmailEvent['kind'];
  emailId: string;
  /** Empty where unknown. */
  to: readonly string[];
  fromAddress: string;
  subject: string;
  idx: string | null;
  receivedAt: Date;
  payload: object;
}

/** The body of an `email_event` (v1.2.0, Events). */
export function emailEvent({
  kind,
  emailId,
  to,
  fromAddress,
  subject,
  idx,
  receivedAt,
  payload,
}: NotifiedEmailEvent): object {
  return {
    event: 'email_event',
    kind: notifiedKind(kind),
    email_id: emailId,
    to: to.join(', '),
    from: fromAddress,
    subject,
    idx,
    received_at: receivedAt.toISOString(),
    provider_payload: payload,
  };
}

export interface DnsRecord {
  type: 'TXT' | 'MX' | 'CNAME';
  /** Full name without trailing dot: `send.sklep.example`. */
  name: string;
  /** TXT: the text in one piece; MX: the host without trailing dot. */
  value: string;
  /** MX only. */
  priority: number | null;
  /** Signature, authorised senders, bounces. */
  purpose: 'dkim' | 'spf' | 'return_path';
}

export interface SeenRecord extends DnsRecord {
  seen: boolean;
}

/** Where bounces of a domain's e-mails go, and which name its SPF record has. */
export function returnPathOf(domain: string): string {
  return `send.${domain}`;
}

/**
 * The DNS records of a domain whose e-mails we sign: the DKIM key, and SPF and MX of the return path.
 * @param publicKey RSA, base64 of its DER form
 * @param mailHost receives bounces, and sends
 * @param senders further terms of SPF (RFC 7208): `include:_spf.relay.example`
 */
export function ownRecords(
  { name, selector, publicKey }: { name: string; selector: string; publicKey: string },
  mailHost: string,
  senders: readonly string[] = [],
): DnsRecord[] {
  const returnPath = returnPathOf(name);
  return [
    {
      type: 'TXT',
      name: `${selector}._domainkey.${name}`,
      value: `v=DKIM1; k=rsa; p=${publicKey}`,
      priority: null,
      purpose: 'dkim',
    },
    {
      type: 'TXT',
      name: returnPath,
      value: ['v=spf1', `a:${mailHost}`, ...senders, '~all'].join(' '),
      priority: null,
      purpose: 'spf',
    },
    { type: 'MX', name: returnPath, value: mailHost, priority: 10, purpose: 'return_path' },
  ];
}

/** DNS answers about a name: texts in one piece each, hosts of MX and CNAME. */
export type DnsAnswer = readonly string[];

/** Whether DNS has a record, compared as verifiers do: DKIM by tags (RFC 6376, 3.6.1), SPF by terms (RFC 7208), MX without priority. */
export function isPublished(record: DnsRecord, answer: DnsAnswer): boolean {
  if (record.type !== 'TXT') return answer.some((host) => hostOf(host) === hostOf(record.value));
  if (record.purpose === 'dkim') return isKeyPublished(record.value, answer);
  if (record.purpose === 'spf') return isSpfPublished(record.value, answer);
  return answer.some((text) => text.trim() === record.value);
}

function hostOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

// With several keys at one name, a verifier may use any of them (RFC 6376, 3.6.2.2).
function isKeyPublished(wanted: string, texts: DnsAnswer): boolean {
  const keys = texts.map(tagsOf).filter((tags) => tags === null || tags.has('p'));
  const [key] = keys;
  if (keys.length !== 1 || key === undefined || key === null) return false;
  return key.get('p') === tagsOf(wanted)?.get('p') && isForMail(key);
}

// Whether the other tags allow signing e-mails by RSA and SHA-256.
function isForMail(tags: ReadonlyMap<string, string>): boolean {
  const listed = (tag: string, ...values: string[]): boolean => {
    const given = tags.get(tag)?.toLowerCase().split(':');
    return given === undefined || values.some((value) => given.includes(value));
  };
  return listed('v', 'dkim1') && listed('k', 'rsa') && listed('h', 'sha256') && listed('s', '*', 'email');
}

// Whitespace in values is ignored; a duplicate tag makes the record invalid (null).
function tagsOf(text: string): Map<string, string> | null {
  const tags = new Map<string, string>();
  for (const tag of text.split(';')) {
    const at = tag.indexOf('=');
    if (at === -1) continue;
    const name = tag.slice(0, at).trim();
    if (tags.has(name)) return null;
    tags.set(name, tag.slice(at + 1).replace(/\s+/g, ''));
  }
  return tags;
}

// Two SPF records are a permanent error (RFC 7208, 4.5).
function isSpfPublished(wanted: string, texts: DnsAnswer): boolean {
  const records = texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
  const [record] = records;
  if (records.length !== 1 || record === undefined) return false;
  const terms = new Set(termsOf(record));
  return termsOf(wanted).every((term) => terms.has(term));
}

// Terms after `all` are ignored.
function termsOf(record: string): string[] {
  const terms = record.toLowerCase().split(/ +/).slice(1);
  const end = terms.findIndex((term) => /^[-+~?]?all$/.test(term));
  return (end === -1 ? terms : terms.slice(0, end))
    .filter((term) => term !== '')
    .map((term) => term.replace(/^\+/, '').replace(/\.$/, ''));
}
