import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import { readReport } from '../../db/reports/reports.ts';
import { addDays, type CalendarSpan, divide, startOfDay } from '../../domain/calendar.ts';
import type { Report, ReportDivision, ReportFilter, ReportPeriod } from '../../domain/reports.ts';
import type { Asked } from '../asked.ts';
import { DeadlineError } from '../outages.ts';
import { reportOf } from './figures.ts';
import { reportPeriod } from './period.ts';

// A second less than any answer may take: the database has given up before the caller is answered so.
const PATIENCE_MS = 9000;
// Of a process's ten connections the sends keep eight, whatever is reported.
const AT_ONCE = 2;

const turns = createFairSemaphore(AT_ONCE, 1);

/** What a report is asked with; every filter that is not given lets any message pass. */
export type ReportInput = {
  /** Polish calendar days, `YYYY-MM-DD`, both inside; 30 of them, up to today, unless given. */
  from?: string | undefined;
  to?: string | undefined;
  group_by: ReportDivision;
  /** Most rows where it is divided by a field: those with the most messages. */
  limit: number;
} & { [Field in keyof ReportFilter]?: ReportFilter[Field] | undefined };

/**
 * Adds up the messages that an account had accepted in a period of Polish calendar days, with all that came of them since.
 * @throws Refused for a period that cannot be, DeadlineError where other reports take too long
 */
export async function report({
  services: { sql },
  caller: { accountId, accountMode },
  input,
  receivedAt,
}: Asked<ReportInput>): Promise<Report> {
  const { group_by: by, limit } = input;
  const period = reportPeriod(input, Date.now());
  const spans = spansOf(period, by);
  const testMode = accountMode === 'test';
  const filter = filterOf(input);
  const deadline = receivedAt + PATIENCE_MS;
  const read = async () => {
    const left = deadline - Date.now();
    const grouping =
      spans === null
        ? { by: by as Exclude<ReportDivision, 'day' | 'week' | 'month'>, limit }
        : { by: 'time' as const, startsAt: spans.map(({ startsAt }) => startsAt) };
    const from = startOfDay(period.from);
    const until = startOfDay(addDays(period.to, 1));
    return await readReport(sql, { accountId, from, until, grouping, filter, testMode }, left);
  };
  const sums = await turns.run(accountId, read, {
    until: deadline,
    error: () => new DeadlineError('waited too long for other reports'),
  });
  return reportOf({ period, by, spans, testMode, filtered: isFiltered(filter) }, sums);
}

/** The period in units of the calendar; null when it is divided by a field. */
function spansOf({ from, to }: ReportPeriod, by: ReportDivision): CalendarSpan[] | null {
  return by === 'day' || by === 'week' || by === 'month' ? divide(from, to, by) : null;
}

function filterOf(input: ReportInput): ReportFilter {
  const { sender = null, country = null, reference = null, status = null, type = null } = input;
  return { sender, country, reference, status, type };
}

function isFiltered(filter: ReportFilter): boolean {
  return Object.values(filter).some((value) => value !== null);
}
