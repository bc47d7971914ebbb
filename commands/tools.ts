import type { Client } from '@temporalio/client';
import type { Numbering } from '../db/money/invoices.ts';
import type { Seller } from '../domain/parties.ts';

/** What some commands need besides the database; each is opened on first use. */
export interface Tools {
  secretsKey(): Promise<Buffer>;
  /** `WEBHOOK_ALLOW_PRIVATE`. */
  webhookAllowPrivate(): Promise<boolean>;
  /** `DNS_SERVERS`; null: the system's. */
  dnsServers(): Promise<readonly string[] | null>;
  /** `SELLER_…` and `INVOICE_…`. @throws AdminError refused where the seller is not set */
  invoicing(): Promise<{ seller: Seller; numbering: Numbering }>;
  temporal(): Promise<Client>;
  /** `PROMETHEUS_URL`; null: not set. */
  prometheusUrl(): Promise<string | null>;
  /**
   * Reads what does not belong on a command line.
   * @param option its name as typed, for error messages
   * @param source a file's path, `-` for standard input, `env:NAME` for an environment variable
   * @throws AdminError invalid_argument, without quoting the content
   */
  read(option: string, source: string): Promise<string>;
}
