/** What is stored of a tracked link and shown of it. */
export interface TrackedLinkRow {
  token: string;
  url: string;
  /** The message that is asked about, otherwise the last one that carries the link. */
  messageId: string | null;
  /** MSISDN in E.164 with plus; null: that person was erased. */
  recipient: string | null;
  clicks: number;
  firstClickAt: Date | null;
  lastClickAt: Date | null;
  createdAt: Date;
}

/** A tracked link as the interface shows it: in answers and in webhooks (v2.3.0, TrackedLink). */
export interface TrackedLinkRecord {
  token: string;
  short_url: string;
  url: string;
  message_id: string | null;
  to: string | null;
  clicks: number;
  first_click_at: string | null;
  last_click_at: string | null;
  created_at: string;
}

/** Letters and digits of a link's token (v2.3.0, TrackedLink). */
export const LINK_TOKEN_LENGTH = 8;

/**
 * How many clicks of a minute get a row and a workflow of their own: of one link from one network (of shortened address),
 * of one link, and of all links of an account beyond each link's first. What comes beyond that is counted only. The log of 50
 * clicks that a link shows (v2.3.0, Tracked links) fits into one network's share.
 */
export const CLICK_ROWS_PER_MINUTE = { network: 60, link: 120, account: 600 } as const;

/**
 * Presents a stored link (v2.3.0, TrackedLink), instants as ISO 8601 in UTC.
 * @param shortUrl where short links lead, with scheme, without a slash at the end
 */
export function linkRecord(row: TrackedLinkRow, shortUrl: string): TrackedLinkRecord {
  return {
    token: row.token,
    short_url: `${shortUrl}/l/${row.token}`,
    url: row.url,
    message_id: row.messageId,
    to: row.recipient,
    clicks: row.clicks,
    first_click_at: row.firstClickAt?.toISOString() ?? null,
    last_click_at: row.lastClickAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}
