import {
  addDays,
  type CalendarSpan,
  daysInside,
  divide,
  polishDay,
  startOfDay,
} from '../../domain/calendar.ts';
import { Refused } from '../../domain/refusals.ts';
import {
  emailFigures,
  type EmailSums,
  lookupFigures,
  type LookupSums,
  NOTHING_SENT,
  type Report,
  REPORT_DAYS_MAX,
  REPORT_DAYS_STANDARD,
  type ReportDivision,
  reportFigures,
  type ReportFilter,
  type ReportPeriod,
} from '../../domain/reports.ts';
import { readWithin, type Sql } from '../../db/connection.ts';
import { type DailySums, readDailySums } from '../../db/reports/daily.ts';
import { readReport, type ReportGroup } from '../../db/reports/reports.ts';
import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import type { OperationContext } from '../context.ts';
import { DeadlineError } from '../outages.ts';

/** Validates a period of Polish calendar days; by default the last `REPORT_DAYS_STANDARD` up to today. @param now epoch milliseconds */
export function reportPeriod(
  requested: { from?: string | undefined; to?: string | undefined },
  now: number,
): ReportPeriod {
  const to = requested.to ?? polishDay(now);
  const from = requested.from ?? addDays(to, 1 - REPORT_DAYS_STANDARD);
  const days = daysInside(from, to);
  if (days < 1) throw new Refused({ reason: 'period_reversed' }, 'from');
  if (days > REPORT_DAYS_MAX)
    throw new Refused({ reason: 'period_too_long', limit: REPORT_DAYS_MAX }, 'from');
  return { from, to };
}

interface AskedReport {
  period: ReportPeriod;
  by: ReportDivision;
  /** Calendar units; null when grouped by a field. */
  spans: CalendarSpan[] | null;
  testMode: boolean;
  filtered: boolean;
}

/** Builds a report from its sums; grouped by time, it has a row for each unit, even an empty one. */
function reportOf(
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

// One second below the response deadline, so that the database gives up before the caller's request times out.
const DEADLINE_MS = 9000;
// Leaves eight of the process's ten connections to sends.
const AT_ONCE = 2;

const reportSlots = createFairSemaphore(AT_ONCE, 1);

/** Runs one of the process's few reports. @param read gets the milliseconds that are left @throws DeadlineError after waiting too long */
async function inReportSlot<T>(
  accountId: string,
  deadline: number,
  read: (leftMs: number) => Promise<T>,
): Promise<T> {
  return await reportSlots.run(accountId, () => read(deadline - Date.now()), {
    until: deadline,
    error: () => new DeadlineError('waited too long for other reports'),
  });
}

const OVERVIEW_MS = 3_000;

/** The last 30 Polish days of an account, the last one today. @throws DeadlineError, SQLSTATE 57014 where they take too long */
export async function lastDays({
  services: { sql },
  caller: { accountId, accountMode },
}: Pick<OperationContext<unknown>, 'services' | 'caller'>): Promise<DailySums[]> {
  const { from, to } = reportPeriod({}, Date.now());
  const days = divide(from, to, 'day');
  const query = { accountId, days, until: startOfDay(addDays(to, 1)), testMode: accountMode === 'test' };
  return await inReportSlot(accountId, Date.now() + OVERVIEW_MS, (leftMs) =>
    readDailySums(sql, query, leftMs),
  );
}

/** Reads what a page shows beside other things. @throws DeadlineError, SQLSTATE 57014 where it takes too long */
export async function readBriefly<T>(
  { services: { sql }, caller: { accountId } }: Pick<OperationContext<unknown>, 'services' | 'caller'>,
  read: (tx: Sql, accountId: string) => Promise<T>,
): Promise<T> {
  return await inReportSlot(accountId, Date.now() + OVERVIEW_MS, (leftMs) =>
    readWithin(sql, leftMs, (tx) => read(tx, accountId)),
  );
}

type ReportInput = {
  /** Polish calendar days, `YYYY-MM-DD`, inclusive; the last 30 days by default. */
  from?: string | undefined;
  to?: string | undefined;
  group_by: ReportDivision;
  /** Maximum rows when grouped by a field: those with the most messages. */
  limit: number;
} & { [Field in keyof ReportFilter]?: ReportFilter[Field] | undefined };

/**
 * Sums the messages that an account had accepted in a period of Polish calendar days, with their outcomes to date.
 * @throws Refused for an invalid period, DeadlineError while other reports take too long
 */
export async function report({
  services: { sql },
  caller: { accountId, accountMode },
  input,
  receivedAt,
}: OperationContext<ReportInput>): Promise<Report> {
  const { group_by: by, limit } = input;
  const period = reportPeriod(input, Date.now());
  const spans = by === 'day' || by === 'week' || by === 'month' ? divide(period.from, period.to, by) : null;
  const testMode = accountMode === 'test';
  const { sender = null, country = null, reference = null, status = null, type = null } = input;
  const filter: ReportFilter = { sender, country, reference, status, type };
  const deadline = receivedAt + DEADLINE_MS;
  const read = async (left: number) => {
    const grouping =
      spans === null
        ? { by: by as Exclude<ReportDivision, 'day' | 'week' | 'month'>, limit }
        : { by: 'time' as const, startsAt: spans.map(({ startsAt }) => startsAt) };
    const from = startOfDay(period.from);
    const until = startOfDay(addDays(period.to, 1));
    return await readReport(sql, { accountId, from, until, grouping, filter, testMode }, left);
  };
  const sums = await inReportSlot(accountId, deadline, read);
  const filtered = Object.values(filter).some((value) => value !== null);
  return reportOf({ period, by, spans, testMode, filtered }, sums);
}
