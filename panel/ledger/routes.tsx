import { setImmediate } from 'node:timers/promises';
import { csvLines } from '../../api/contacts/export.ts';
import { readAccount } from '../../db/accounts/accounts.ts';
import { type LedgerFilter, type LedgerRow, listLedger, readRunway } from '../../db/money/ledger.ts';
import { PAYERS } from '../../domain/actor.ts';
import { escapeFormula } from '../../domain/contacts.ts';
import { type AskedEntries, ledgerSums, readAskedEntries } from '../../operations/money/ledger.ts';
import { readBriefly } from '../../operations/reports/report.ts';
import { type Fault, faultOf, filled, unlessSlow } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Ledger } from './view.tsx';
import { words } from './words.ts';

const FILTERS = ['kind', 'from', 'to', 'about', 'cursor'] as const;
const SHOWN = 50;
const PAGE = 1_000;

const asked = ({ query }: MemberVisit): AskedEntries => filled(query, FILTERS);

async function page(visit: MemberVisit): Promise<Answer> {
  const { language, query, services, caller } = visit;
  const [account, runway, found] = await Promise.all([
    readAccount(services.sql, caller.accountId),
    unlessSlow(readBriefly(visit, readRunway)),
    entriesOf(visit),
  ]);
  const { fault } = found;
  const view = <Ledger {...{ language, query, runway, ...found }} account={account!} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

const NOTHING = { period: null, rows: [], next: null, sums: null };

async function entriesOf(visit: MemberVisit) {
  const { language, services, caller, query } = visit;
  try {
    const { period, filter } = readAskedEntries(asked(visit));
    const isFirst = !query.has('cursor');
    const [entries, sums] = await Promise.all([
      listLedger(services.sql, caller.accountId, SHOWN + 1, filter),
      period === null || !isFirst ? null : unlessSlow(ledgerSums(visit, period)),
    ]);
    const rows = entries.slice(0, SHOWN);
    const next = entries.length > SHOWN ? String(rows.at(-1)!.id) : null;
    return { period: isFirst ? period : null, rows, next, sums, fault: null };
  } catch (thrown) {
    const fault: Fault = faultOf(language, thrown);
    return { ...NOTHING, fault };
  }
}

function csv(visit: MemberVisit): Answer {
  const { filter } = readAskedEntries(asked(visit));
  visit.acquireHeavySlot();
  return { status: 200, filename: 'ledger.csv', csv: lines(visit, filter) };
}

const COLUMNS = [
  ...['id', 'created_at', 'kind', 'amount_grosze', 'test_credits'],
  ...['subject', 'payment', 'reference', 'note'],
];

/** The entries as a table, with one page in memory at a time. */
async function* lines({ services: { sql }, caller }: MemberVisit, filter: LedgerFilter) {
  yield csvLines([COLUMNS]);
  let { after } = filter;
  for (;;) {
    const rows = await listLedger(sql, caller.accountId, PAGE, { ...filter, after });
    if (rows.length > 0) yield csvLines(rows.map(cells));
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
    await setImmediate();
  }
}

function cells({ id, createdAt, kind, amountGrosze, testCredits, ...more }: LedgerRow): string[] {
  const { subjectId, paymentId, reference, note } = more;
  const texts = [subjectId, paymentId, reference, note].map((text) => escapeFormula(text ?? ''));
  return [String(id), createdAt.toISOString(), kind, String(amountGrosze), String(testCredits), ...texts];
}

export const ledgerRoutes = [
  accountPage('/panel/ledger', PAYERS, {
    get: (visit) => (visit.query.get('format') === 'csv' ? csv(visit) : page(visit)),
  }),
];
