import { z } from 'zod';
import { CALENDAR_UNITS } from '../../domain/calendar.ts';
import { EMAIL_STATUSES, type EmailStatus } from '../../domain/email/statuses.ts';
import { type Report, REPORT_FIELDS, type ReportFigures } from '../../domain/reports.ts';
import { documented } from '../documented.ts';

const count = (description: string) => z.int().nonnegative().describe(description);
const grosze = (description: string) => z.int().describe(`${description} Grosze net.`);
const cost = (description: string) => documented(z.int(), `${description} Grosze net.`, 15);
const seconds = (description: string) => z.number().nonnegative().nullable().describe(description);
const withStatus = (status: string) => count(`Of these messages, how many are \`${status}\` now.`);
const day = z.iso.date();

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

/** The answer of `GET /v1/reports`. */
export const reportSchema = z
  .strictObject({
    from: day.describe('The first day.'),
    to: day.describe('The last day, included.'),
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
            from: day.optional().describe("By day, week and month: the row's first day inside the period."),
            to: day.optional().describe("By day, week and month: the row's last day inside the period."),
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
