import { notifiedKind, type ProviderEmailEvent } from './statuses.ts';

/** What a webhook is notified of about an e-mail: the event, and the e-mail it is of. */
export interface NotifiedEmailEvent {
  kind: ProviderEmailEvent['kind'];
  emailId: string;
  /** Whom of the e-mail's addresses it concerns; empty where that cannot be told. */
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

/** A DNS record that the owner of a sender domain has to set. */
export interface DnsRecord {
  type: 'TXT' | 'MX' | 'CNAME';
  /** The whole name, without a dot at the end: `send.sklep.example`. */
  name: string;
  /** Of a TXT its text in one piece; of an MX the host, without a dot at the end. */
  value: string;
  /** Of an MX; null of all else. */
  priority: number | null;
  /** What it is for: the signature, who may send, where bounces go. */
  purpose: 'dkim' | 'spf' | 'return_path';
}

/** A record, and whether it was there when somebody looked. */
export interface SeenRecord extends DnsRecord {
  seen: boolean;
}

/** Where bounces of a domain's e-mails go, and whom its SPF record names. */
export function returnPathOf(domain: string): string {
  return `send.${domain}`;
}

/**
 * The records of a domain whose e-mails we sign ourselves: the DKIM key, and for the return path who may send and where bounces go.
 * @param publicKey RSA, base64 of its DER form
 * @param mailHost takes the bounces, and sends
 * @param senders terms of SPF (RFC 7208) beside the mail host: `include:_spf.relay.example`
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

/** What DNS answers about a name: texts in one piece each, hosts of MX and CNAME. */
export type DnsAnswer = readonly string[];

/**
 * Whether a record is among what DNS answers about its name and type; compared as its readers do: a DKIM key by its tags (RFC 6376,
 * 3.6.1), SPF by its terms (RFC 7208), hosts without case and final dot. Of an MX the priority is the owner's own affair.
 */
export function isSeen(record: DnsRecord, answer: DnsAnswer): boolean {
  if (record.type !== 'TXT') return answer.some((host) => hostOf(host) === hostOf(record.value));
  if (record.purpose === 'dkim') return isKeySeen(record.value, answer);
  if (record.purpose === 'spf') return isSenderSeen(record.value, answer);
  return answer.some((text) => text.trim() === record.value);
}

function hostOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

// More than one key at a name: a reader may take any of them (RFC 6376, 3.6.2.2).
function isKeySeen(wanted: string, texts: DnsAnswer): boolean {
  const keys = texts.map(tagsOf).filter((tags) => tags === null || tags.has('p'));
  const [key] = keys;
  if (keys.length !== 1 || key === undefined || key === null) return false;
  return key.get('p') === tagsOf(wanted)?.get('p') && isForMail(key);
}

/** Whether the tags beside the key let it sign e-mails by RSA and SHA-256. */
function isForMail(tags: ReadonlyMap<string, string>): boolean {
  const listed = (tag: string, ...values: string[]): boolean => {
    const given = tags.get(tag)?.toLowerCase().split(':');
    return given === undefined || values.some((value) => given.includes(value));
  };
  return listed('v', 'dkim1') && listed('k', 'rsa') && listed('h', 'sha256') && listed('s', '*', 'email');
}

/** The tags of a key, without any space in their values; null where one stands twice: it is void then. */
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

// With two of them SPF fails for good (RFC 7208, 4.5).
function isSenderSeen(wanted: string, texts: DnsAnswer): boolean {
  const records = texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
  const [record] = records;
  if (records.length !== 1 || record === undefined) return false;
  const terms = new Set(termsOf(record));
  return termsOf(wanted).every((term) => terms.has(term));
}

/** The terms of an SPF record that are read: those before `all`. */
function termsOf(record: string): string[] {
  const terms = record.toLowerCase().split(/ +/).slice(1);
  const end = terms.findIndex((term) => /^[-+~?]?all$/.test(term));
  return (end === -1 ? terms : terms.slice(0, end))
    .filter((term) => term !== '')
    .map((term) => term.replace(/^\+/, '').replace(/\.$/, ''));
}
