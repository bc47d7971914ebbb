import { z } from 'zod';
import { CALENDAR_UNITS, parseDay } from '../../domain/calendar.ts';
import {
  REPORT_DAYS_MAX,
  REPORT_DAYS_STANDARD,
  REPORT_FIELDS,
  REPORT_ROWS_MAX,
  REPORT_ROWS_STANDARD,
} from '../../domain/reports.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { issue, pageLimit, reference, senderName } from '../fields.ts';

const day = z
  .string()
  .refine((value) => parseDay(value) !== null, issue({ reason: 'day_malformed' }))
  .meta({ format: 'date', example: '2026-11-01' });

/** The query of `GET /v1/reports`. */
export const reportQuery = z.strictObject({
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
