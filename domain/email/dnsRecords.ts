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
