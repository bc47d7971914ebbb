import type { EmailStatus } from './email/statuses.ts';
import type { Channel } from './channelDeclaration.ts';
import type { CalendarUnit } from './calendar.ts';
import { MESSAGE_STATUSES, type MessageStatus } from './statuses.ts';

export const REPORT_FIELDS = ['sender', 'country', 'reference', 'status'] as const;
export type ReportField = (typeof REPORT_FIELDS)[number];
export type ReportDivision = CalendarUnit | ReportField;

/** Null means any. */
export interface ReportFilter {
  sender: string | null;
  /** ISO 3166-1 alpha-2. */
  country: string | null;
  reference: string | null;
  status: MessageStatus | null;
  type: Channel | null;
}

/** Sums over messages as read from the database; money in grosze net. */
export interface ReportSums extends Record<MessageStatus, number> {
  messages: number;
  parts: number;
  cost: number;
  refunded: number;
  /** Tenths of a second from send time to delivery; null when nothing was delivered. */
  median: number | null;
  p95: number | null;
  clicks: number;
  robotClicks: number;
  clicked: number;
  replies: number;
  optOuts: number;
}

/** Number lookups of a period without refunded ones; grosze net. */
export interface LookupSums {
  count: number;
  costGrosze: number;
}

/** E-mails of a period by status; grosze net. */
export interface EmailSums extends Record<EmailStatus, number> {
  count: number;
  costGrosze: number;
  refundedGrosze: number;
}

/** Grosze net. */
export interface ReportFigures extends Record<MessageStatus, number> {
  messages: number;
  accepted: number;
  parts: number;
  cost_grosze: number;
  refunded_grosze: number;
  net_grosze: number;
  /** 0 to 1, four decimals. */
  delivery_rate: number | null;
  /** Seconds, to the tenth. */
  delivery_seconds: { median: number | null; p95: number | null };
  clicks: number;
  robot_clicks: number;
  clicked_messages: number;
  replies: number;
  opt_outs: number;
}

/** Polish calendar days, `YYYY-MM-DD`, both inclusive. */
export interface ReportPeriod {
  from: string;
  to: string;
}

interface ReportRow extends ReportFigures {
  /** The unit's name or the field's value; null for messages without one. */
  key: string | null;
  /** By time: the row's first and last day in the period. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Report on the messages accepted in a period, with their outcomes so far. */
export interface Report extends ReportPeriod {
  group_by: ReportDivision;
  timezone: 'Europe/Warsaw';
  /** Test account: no money was moved. */
  test_mode?: true | undefined;
  /** By time: in order, without gaps; else rows with the most messages first. */
  data: ReportRow[];
  /** The rows that are not listed, together; null when all are. */
  rest: ReportFigures | null;
  totals: ReportFigures;
  /** `lookups` and `emails` are null when the report is filtered. */
  lookups: ReturnType<typeof lookupFigures> | null;
  emails: ReturnType<typeof emailFigures> | null;
}

/** In days. */
export const REPORT_DAYS_MAX = 366;
export const REPORT_DAYS_STANDARD = 30;
export const REPORT_ROWS_MAX = 1000;
export const REPORT_ROWS_STANDARD = 100;

const RATE_DIGITS = 4;

/** Presents sums. Cancelled and rejected messages were never tried, so the delivery rate leaves them out. */
export function reportFigures(sums: ReportSums): ReportFigures {
  const ended = sums.delivered + sums.undelivered + sums.failed + sums.expired;
  return {
    messages: sums.messages,
    accepted: sums.messages - sums.rejected,
    parts: sums.parts,
    cost_grosze: sums.cost,
    refunded_grosze: sums.refunded,
    net_grosze: sums.cost - sums.refunded,
    ...statusCounts(sums),
    delivery_rate: ended === 0 ? null : Number((sums.delivered / ended).toFixed(RATE_DIGITS)),
    delivery_seconds: { median: seconds(sums.median), p95: seconds(sums.p95) },
    clicks: sums.clicks,
    robot_clicks: sums.robotClicks,
    clicked_messages: sums.clicked,
    replies: sums.replies,
    opt_outs: sums.optOuts,
  };
}

export function lookupFigures({ count, costGrosze }: LookupSums) {
  return { count, cost_grosze: costGrosze };
}

export function emailFigures({ costGrosze, refundedGrosze, count, ...byStatus }: EmailSums) {
  return {
    count,
    cost_grosze: costGrosze,
    refunded_grosze: refundedGrosze,
    net_grosze: costGrosze - refundedGrosze,
    ...byStatus,
  };
}

export const NOTHING_SENT: ReportSums = {
  messages: 0,
  parts: 0,
  cost: 0,
  refunded: 0,
  median: null,
  p95: null,
  clicks: 0,
  robotClicks: 0,
  clicked: 0,
  replies: 0,
  optOuts: 0,
  ...statusCounts(null),
};

function statusCounts(sums: ReportSums | null): Record<MessageStatus, number> {
  return Object.fromEntries(MESSAGE_STATUSES.map((status) => [status, sums?.[status] ?? 0])) as Record<
    MessageStatus,
    number
  >;
}

function seconds(tenths: number | null): number | null {
  return tenths === null ? null : tenths / 10;
}
