import { addDays, daysInside, polishDay } from '../../domain/calendar.ts';
import { Refused } from '../../domain/refusals.ts';
import { REPORT_DAYS_MAX, REPORT_DAYS_STANDARD, type ReportPeriod } from '../../domain/reports.ts';

/**
 * The period asked for.
 * @param asked Polish calendar days, `YYYY-MM-DD`; unless given, the days up to the last one, and today
 * @param now epoch milliseconds
 * @throws Refused when it ends before it begins, or is too long
 */
export function reportPeriod(
  asked: { from?: string | undefined; to?: string | undefined },
  now: number,
): ReportPeriod {
  const to = asked.to ?? polishDay(now);
  const from = asked.from ?? addDays(to, 1 - REPORT_DAYS_STANDARD);
  const days = daysInside(from, to);
  if (days < 1) throw new Refused({ reason: 'period_reversed' }, 'from');
  if (days > REPORT_DAYS_MAX)
    throw new Refused({ reason: 'period_too_long', limit: REPORT_DAYS_MAX }, 'from');
  return { from, to };
}
