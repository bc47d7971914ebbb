import { type LedgerFilter, type LedgerSums, sumLedger } from '../../db/money/ledger.ts';
import { addDays, parseDay, startOfDay } from '../../domain/calendar.ts';
import { isStorable } from '../../domain/ids.ts';
import { LEDGER_KINDS } from '../../domain/money.ts';
import { Refused } from '../../domain/refusals.ts';
import type { ReportPeriod } from '../../domain/reports.ts';
import type { OperationContext } from '../context.ts';
import { readBriefly, reportPeriod } from '../reports/report.ts';

/** Filters as they are asked for; each may be missing. */
export type AskedEntries = Partial<Record<'kind' | 'from' | 'to' | 'about' | 'cursor', string>>;

interface Entries {
  /** Null: of any time, as one thing is looked for. */
  period: ReportPeriod | null;
  filter: LedgerFilter;
}

const ENTRY = /^[1-9][0-9]{0,15}$/;

/** Reads what entries are asked for: those of the last 30 Polish days, unless by days or by what they belong to. @throws Refused */
export function readAskedEntries({ kind: kindAsked, about, cursor, ...days }: AskedEntries): Entries {
  const kind = LEDGER_KINDS.find((one) => one === kindAsked);
  if (kindAsked !== undefined && kind === undefined) throw malformed('kind');
  if (about !== undefined && !isStorable(about)) throw malformed('about');
  if (cursor !== undefined && !ENTRY.test(cursor)) throw new Refused({ reason: 'cursor_malformed' });
  for (const field of ['from', 'to'] as const)
    if (days[field] !== undefined && parseDay(days[field]) === null)
      throw new Refused({ reason: 'day_malformed', field }, field);
  const isAnyTime = about !== undefined && days.from === undefined && days.to === undefined;
  const period = isAnyTime ? null : reportPeriod(days, Date.now());
  const after = cursor === undefined ? undefined : Number(cursor);
  return { period, filter: { kind, about, after, ...(period === null ? {} : instantsOf(period)) } };
}

function malformed(field: string): Refused {
  return new Refused({ reason: 'field_malformed', field }, field);
}

function instantsOf({ from, to }: ReportPeriod): { from: Date; until: Date } {
  return { from: new Date(startOfDay(from)), until: new Date(startOfDay(addDays(to, 1))) };
}

/** Balance before and after a period, and what moved it. @throws DeadlineError, SQLSTATE 57014 where it takes too long */
export async function ledgerSums(
  context: Pick<OperationContext<unknown>, 'services' | 'caller'>,
  period: ReportPeriod,
): Promise<LedgerSums> {
  const { from, until } = instantsOf(period);
  return await readBriefly(context, (sql, account) => sumLedger(sql, account, from, until));
}
