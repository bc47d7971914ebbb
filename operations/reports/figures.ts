import type { ReportGroup } from '../../db/reports/reports.ts';
import type { CalendarSpan } from '../../domain/calendar.ts';
import {
  emailFigures,
  type EmailSums,
  type LookupSums,
  NOTHING_SENT,
  type Report,
  type ReportDivision,
  lookupFigures,
  reportFigures,
  type ReportPeriod,
} from '../../domain/reports.ts';

/** What was asked for. */
export interface AskedReport {
  period: ReportPeriod;
  by: ReportDivision;
  /** The units of the calendar; null when divided by a field. */
  spans: CalendarSpan[] | null;
  testMode: boolean;
  /** The report is about some messages only. */
  filtered: boolean;
}

/** Makes a report of the sums that were read: by time one row for each unit, messages or not. */
export function reportOf(
  { period, by, spans, testMode, filtered }: AskedReport,
  { groups, lookups, emails }: { groups: ReportGroup[]; lookups: LookupSums; emails: EmailSums },
): Report {
  const totals = groups.find(({ total }) => total) ?? NOTHING_SENT;
  const rest = groups.find(({ key }) => key === 0);
  const listed = groups.filter(({ key }) => key !== null && key > 0);
  return {
    ...period,
    group_by: by,
    timezone: 'Europe/Warsaw',
    ...(testMode ? { test_mode: true } : {}),
    data:
      spans === null
        ? listed.map((group) => ({ key: group.value, ...reportFigures(group) }))
        : calendarRows(spans, listed),
    rest: rest === undefined ? null : reportFigures(rest),
    totals: reportFigures(totals),
    lookups: filtered ? null : lookupFigures(lookups),
    emails: filtered ? null : emailFigures(emails),
  };
}

function calendarRows(spans: CalendarSpan[], groups: ReportGroup[]): Report['data'] {
  const byKey = new Map(groups.map((group) => [group.key, group]));
  return spans.map(({ key, from, to }, index) => ({
    key,
    from,
    to,
    ...reportFigures(byKey.get(index + 1) ?? NOTHING_SENT),
  }));
}
