import { readReport } from '../db/reports/reports.ts';
import { addDays, type CalendarSpan, divide, startOfDay } from '../domain/calendar.ts';
import type { ReportDivision, ReportFilter } from '../domain/reports.ts';
import { endpoint } from './http/endpoint.ts';
import { DeadlineError } from '../operations/outages.ts';
import { reportCsv } from './reports/csv.ts';
import { type Period, reportPeriod, reportQuery } from './reports/query.ts';
import { presentReport } from './reports/record.ts';
import { reportSchema } from './reports/schema.ts';
import { takeTurns } from './reports/turns.ts';

// A second less than any answer may take: the database has given up before the caller is told so.
const PATIENCE_MS = 9000;
// Of a process's ten connections the sends keep eight, whatever is reported.
const AT_ONCE = 2;

const inTurn = takeTurns(AT_ONCE);

/**
 * GET /v1/reports, which v2.3.0 only names: sums over the messages accepted in a period of Polish calendar days, with
 * all that came of them since.
 */
export const getReport = endpoint({
  method: 'GET',
  path: '/v1/reports',
  scope: 'read',
  summary: 'Adds up messages, costs, deliveries and reactions over a period.',
  query: reportQuery,
  heavy: true,
  csv: true,
  responses: { 200: reportSchema },
  async handle({ services: { sql }, caller: { accountId, accountMode }, query, csv, receivedAt }) {
    const { group_by: by, limit } = query;
    const period = reportPeriod(query, Date.now());
    const spans = spansOf(period, by);
    const testMode = accountMode === 'test';
    const filter = filterOf(query);
    const sums = await inTurn(accountId, async () => {
      const left = receivedAt + PATIENCE_MS - Date.now();
      if (left <= 0) throw new DeadlineError('waited too long for other reports');
      const grouping =
        spans === null
          ? { by: by as Exclude<ReportDivision, 'day' | 'week' | 'month'>, limit }
          : { by: 'time' as const, startsAt: spans.map(({ startsAt }) => startsAt) };
      const from = startOfDay(period.from);
      const until = startOfDay(addDays(period.to, 1));
      return await readReport(sql, { accountId, from, until, grouping, filter, testMode }, left);
    });
    const report = presentReport({ period, by, spans, testMode, filtered: isFiltered(filter) }, sums);
    if (!csv) return { status: 200, body: report };
    return { status: 200, filename: `report_${period.from}_${period.to}_${by}.csv`, csv: reportCsv(report) };
  },
});

/** The period in units of the calendar; null when it is divided by a field. */
function spansOf({ from, to }: Period, by: ReportDivision): CalendarSpan[] | null {
  return by === 'day' || by === 'week' || by === 'month' ? divide(from, to, by) : null;
}

function filterOf(query: { [Field in keyof ReportFilter]?: ReportFilter[Field] | undefined }): ReportFilter {
  const { sender = null, country = null, reference = null, status = null, type = null } = query;
  return { sender, country, reference, status, type };
}

function isFiltered(filter: ReportFilter): boolean {
  return Object.values(filter).some((value) => value !== null);
}
