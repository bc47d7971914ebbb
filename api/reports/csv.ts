import { stringify } from 'csv-stringify/sync';
import type { Report, ReportFigures } from '../../domain/reports.ts';
import { protectedCell } from '../../domain/tableCell.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';

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

/**
 * A report as CSV (RFC 4180, commas, a header line). `row` is `group`, or `rest` in the last line when rows were left out, so that
 * the lines always add up to the totals, which are not among them. A key that a spreadsheet would take for a formula
 * begins with an apostrophe.
 */
export function* reportCsv({ data, rest }: Report): Iterable<string> {
  const write = (lines: object[], header: boolean) =>
    stringify(lines, { columns: [...COLUMNS], header, record_delimiter: 'windows' });
  yield write([], true);
  for (const { key, from, to, ...figures } of data) {
    yield write(
      [{ row: 'group', key: key === null ? null : protectedCell(key), from, to, ...columnsOf(figures) }],
      false,
    );
  }
  if (rest !== null) yield write([{ row: 'rest', ...columnsOf(rest) }], false);
}

function columnsOf({ delivery_seconds: { median, p95 }, ...figures }: ReportFigures): object {
  return { ...figures, delivery_seconds_median: median, delivery_seconds_p95: p95 };
}
