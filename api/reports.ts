import { z } from 'zod';
import { stringify } from 'csv-stringify/sync';
import { CALENDAR_UNITS, parseDay } from '../domain/calendar.ts';
import {
  type Report,
  REPORT_DAYS_MAX,
  REPORT_DAYS_STANDARD,
  REPORT_FIELDS,
  REPORT_ROWS_MAX,
  REPORT_ROWS_STANDARD,
  type ReportFigures,
} from '../domain/reports.ts';
import { MESSAGE_STATUSES } from '../domain/statuses.ts';
import { documented, issue, pageLimit, reference, senderName } from './fields.ts';
import { EMAIL_STATUSES, type EmailStatus } from '../domain/email/statuses.ts';
import { escapeFormula } from '../domain/contacts.ts';
import { report } from '../operations/reports/report.ts';
import { endpoint } from './http/endpoint.ts';

const day = z
  .string()
  .refine((value) => parseDay(value) !== null, issue({ reason: 'day_malformed' }))
  .meta({ format: 'date', example: '2026-11-01' });

const reportQuery = z.strictObject({
  from: day
    .optional()
    .describe(
      `The first Polish calendar day. Without it, the ${REPORT_DAYS_STANDARD} days up to \`to\`. A report covers at most ${REPORT_DAYS_MAX} days.`,
    ),
  to: day.optional().describe('The last Polish calendar day, included. Without it, today.'),
  group_by: z
    .enum([...CALENDAR_UNITS, ...REPORT_FIELDS])
    .default('day')
    .describe('What each row stands for. Weeks begin on Monday (ISO 8601).'),
  sender: senderName.optional().describe('Only messages of this sender.'),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional()
    .meta({ description: 'Only messages to this country (ISO 3166-1 alpha-2).', example: 'PL' }),
  reference: reference.optional().describe('Only messages with this reference.'),
  status: z.enum(MESSAGE_STATUSES).optional().describe('Only messages that have this status now.'),
  type: z.enum(['sms', 'mms', 'vms']).optional().describe('Only messages of this kind.'),
  limit: pageLimit(REPORT_ROWS_MAX, REPORT_ROWS_STANDARD).describe(
    'How many rows at most when grouping by sender, country, reference or status: those with the most messages. The others are added up in `rest`. Days, weeks and months are always all there.',
  ),
});

const count = (description: string) => z.int().nonnegative().describe(description);
const grosze = (description: string) => z.int().describe(`${description} Grosze net.`);
const cost = (description: string) => documented(z.int(), `${description} Grosze net.`, 15);
const seconds = (description: string) => z.number().nonnegative().nullable().describe(description);
const withStatus = (status: string) => count(`Of these messages, how many are \`${status}\` now.`);
const periodDay = z.iso.date();

const figures = z
  .strictObject({
    messages: count("Messages accepted in the row's days (by `created_at`), rejected ones included."),
    accepted: count('Of these, all but the rejected ones.'),
    parts: documented(z.int().nonnegative(), 'Parts of these messages.', 1),
    cost_grosze: cost('What these messages were charged; on a test account, what they would cost.'),
    refunded_grosze: grosze('What of that was refunded, whenever that was.'),
    net_grosze: grosze('`cost_grosze` less `refunded_grosze`: what the ledger holds of these messages.'),
    scheduled: withStatus('scheduled'),
    queued: withStatus('queued'),
    sent: withStatus('sent'),
    delivered: withStatus('delivered'),
    undelivered: withStatus('undelivered'),
    failed: withStatus('failed'),
    rejected: withStatus('rejected'),
    expired: withStatus('expired'),
    cancelled: withStatus('cancelled'),
    delivery_rate: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe(
        'Delivered ones as a share of those that are delivered, undelivered, failed or expired; null when there are none of these.',
      ),
    delivery_seconds: z
      .strictObject({
        median: seconds('Half of the delivered messages took no longer.'),
        p95: seconds('95 % of the delivered messages took no longer.'),
      })
      .describe('Seconds from send time to delivery, to the tenth; null when nothing was delivered.'),
    clicks: count(
      "Clicks on tracked links, whenever they came. A link's click belongs to the last message sent with it.",
    ),
    robot_clicks: count('Of the clicks, those of programs that look at links for a preview.'),
    clicked_messages: count("Messages with a click that is not a robot's."),
    replies: count('Replies to these messages (`reply_to`), whenever they came.'),
    opt_outs: count(
      'Messages after which the recipient opted out: by a STOP, or by the opt-out page while it was the last message to the number.',
    ),
  })
  .meta({ id: 'ReportFigures', description: 'Sums over messages.' }) satisfies z.ZodType<ReportFigures>;

const byStatus = Object.fromEntries(
  EMAIL_STATUSES.map((status) => [status, count(`Of these e-mails, how many are \`${status}\` now.`)]),
) as Record<EmailStatus, ReturnType<typeof count>>;

const reportSchema = z
  .strictObject({
    from: periodDay.describe('The first day.'),
    to: periodDay.describe('The last day, included.'),
    group_by: z.enum([...CALENDAR_UNITS, ...REPORT_FIELDS]).describe('What each row stands for.'),
    timezone: z.literal('Europe/Warsaw').describe('Whose days these are.'),
    test_mode: z.literal(true).optional().describe('True on a test account: no money was moved.'),
    data: z
      .array(
        figures
          .extend({
            key: z
              .string()
              .nullable()
              .describe(
                '`2026-11-21`, `2026-W47`, `2026-11`, or the sender, country, reference or status; null where the messages have none.',
              ),
            from: periodDay
              .optional()
              .describe("By day, week and month: the row's first day inside the period."),
            to: periodDay
              .optional()
              .describe("By day, week and month: the row's last day inside the period."),
          })
          .meta({ id: 'ReportRow', description: 'Sums over the messages of one group.' }),
      )
      .describe('By time in order, without gaps; else the rows with the most messages first.'),
    rest: figures
      .nullable()
      .describe('Sums over the messages of all rows beyond `limit`; null when none were left out.'),
    totals: figures.describe('Sums over all messages of the report.'),
    lookups: z
      .strictObject({
        count: count('Look-ups charged and not refunded.'),
        cost_grosze: cost('What they cost.'),
      })
      .nullable()
      .describe('Number look-ups of the period; null when the report is narrowed to some messages.'),
    emails: z
      .strictObject({
        count: count('E-mails accepted in the period.'),
        cost_grosze: cost('What they were charged; on a test account, what they would cost.'),
        refunded_grosze: grosze('What of that was refunded, whenever that was.'),
        net_grosze: grosze('`cost_grosze` less `refunded_grosze`.'),
        ...byStatus,
      })
      .nullable()
      .describe('E-mails of the period; null when the report is narrowed to some messages.'),
  })
  .meta({
    id: 'Report',
    description: 'Sums over the messages accepted in a period, with all that came of them since.',
  }) satisfies z.ZodType<Report>;

const COLUMNS = [
  'row',
  'key',
  'from',
  'to',
  'messages',
  'accepted',
  'parts',
  'cost_grosze',
  'refunded_grosze',
  'net_grosze',
  ...MESSAGE_STATUSES,
  'delivery_rate',
  'delivery_seconds_median',
  'delivery_seconds_p95',
  'clicks',
  'robot_clicks',
  'clicked_messages',
  'replies',
  'opt_outs',
] as const;

// RFC 4180. If rows were left out, the last line is `rest`, so that the lines add up to the totals, which are not included. A key that
// a spreadsheet would take for a formula gets an apostrophe.
function* reportCsv({ data, rest }: Report): Iterable<string> {
  const write = (lines: object[], header: boolean) =>
    stringify(lines, { columns: [...COLUMNS], header, record_delimiter: 'windows' });
  yield write([], true);
  for (const { key, from, to, ...figures } of data) {
    yield write(
      [{ row: 'group', key: key === null ? null : escapeFormula(key), from, to, ...columnsOf(figures) }],
      false,
    );
  }
  if (rest !== null) yield write([{ row: 'rest', ...columnsOf(rest) }], false);
}

function columnsOf({ delivery_seconds: { median, p95 }, ...figures }: ReportFigures): object {
  return { ...figures, delivery_seconds_median: median, delivery_seconds_p95: p95 };
}

/** GET /v1/reports, which v2.3.0 only names. */
export const getReport = endpoint({
  method: 'GET',
  path: '/v1/reports',
  scope: 'read',
  id: 'getReport',
  summary: 'Adds up messages, costs, deliveries and reactions over a period.',
  description:
    'Sums over a period of Polish calendar days, grouped as asked. With `Accept: text/csv` as a table, without the totals.',
  query: reportQuery,
  heavy: true,
  csv: true,
  responses: { 200: reportSchema },
  async handle(call) {
    const body = await report({ ...call, input: call.query });
    if (!call.csv) return { status: 200, body };
    return {
      status: 200,
      filename: `report_${body.from}_${body.to}_${body.group_by}.csv`,
      csv: reportCsv(body),
    };
  },
});
