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
