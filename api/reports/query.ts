import { z } from 'zod';
import { addDays, CALENDAR_UNITS, daysInside, parseDay, polishDay } from '../../domain/calendar.ts';
import { REPORT_FIELDS } from '../../domain/reports.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { issue, pageLimit, reference, senderName } from '../fields.ts';
import { Refused } from '../../domain/refusals.ts';

const STANDARD_DAYS = 30;
const MOST_DAYS = 366;
const GROUPS_MOST = 1000;
const GROUPS_STANDARD = 100;

const day = z
  .string()
  .refine((value) => parseDay(value) !== null, issue({ reason: 'day_malformed' }))
  .meta({ format: 'date', examples: ['2026-11-01'] });

/** The query of `GET /v1/reports`. */
export const reportQuery = z.strictObject({
  from: day
    .optional()
    .describe(
      `The first Polish calendar day. Without it, the ${STANDARD_DAYS} days up to \`to\`. A report covers at most ${MOST_DAYS} days.`,
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
    .meta({ description: 'Only messages to this country (ISO 3166-1 alpha-2).', examples: ['PL'] }),
  reference: reference.optional().describe('Only messages with this reference.'),
  status: z.enum(MESSAGE_STATUSES).optional().describe('Only messages that have this status now.'),
  type: z.enum(['sms', 'mms', 'vms']).optional().describe('Only messages of this kind.'),
  limit: pageLimit(GROUPS_MOST, GROUPS_STANDARD).describe(
    'How many rows at most when grouping by sender, country, reference or status: those with the most messages. The others are added up in `rest`. Days, weeks and months are always all there.',
  ),
});

/** Polish calendar days, `YYYY-MM-DD`, both inside. */
export interface Period {
  from: string;
  to: string;
}

/**
 * The period asked for.
 * @param now epoch milliseconds
 * @throws Refused when it ends before it begins, or is too long
 */
export function reportPeriod(
  asked: { from?: string | undefined; to?: string | undefined },
  now: number,
): Period {
  const to = asked.to ?? polishDay(now);
  const from = asked.from ?? addDays(to, 1 - STANDARD_DAYS);
  const days = daysInside(from, to);
  if (days < 1) throw new Refused({ reason: 'period_reversed' }, 'from');
  if (days > MOST_DAYS) throw new Refused({ reason: 'period_too_long', limit: MOST_DAYS }, 'from');
  return { from, to };
}
