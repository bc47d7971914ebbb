import { log } from '@temporalio/activity';
import { readLinesOfDay, readUndocumented, saveDocuments } from '../db/money/statementDocuments.ts';
import { accountsToBill, lastSettledMonth } from '../db/money/statements.ts';
import { statementPdf } from '../documents/statement.ts';
import { openTypesetter, type Typesetter } from '../documents/typst.ts';
import type { StaffActor } from '../domain/actor.ts';
import { addDays } from '../domain/calendar.ts';
import type { Seller } from '../domain/parties.ts';
import { StaffRefused } from '../domain/refusals.ts';
import { type DatedLine, linesAsCsv, type StatementFacts, wholeMonth } from '../domain/statements.ts';
import { issueStatement } from '../operations/money/statements.ts';
import type { StaffServices } from '../operations/staff.ts';
import { heartbeat, tryEach } from './failures.ts';

const PAGE = 100;
// As the audit log names the service.
const ACTOR: StaffActor = { kind: 'staff', name: 'statements' };

/** The steps of the workflow `statements`; each may be interrupted and repeated at any point. */
export function statementActivities(services: StaffServices, seller: Seller | null) {
  const { sql } = services;
  return {
    /** Issues last month's statements of the postpaid accounts that have none. @returns how many */
    async issueStatements(): Promise<number> {
      const month = await lastSettledMonth(sql);
      const accounts = following((after) => accountsToBill(sql, month, after, PAGE));
      return await countEach(accounts, ({ id }) => issue(id, month));
    },

    /** Makes the documents of statements that have none yet. @returns of how many */
    async documentStatements(): Promise<number> {
      const statements = following((after) => readUndocumented(sql, after, PAGE));
      let typesetter: Typesetter | undefined;
      return await countEach(statements, async (facts) => {
        const lines = await linesOf(facts);
        const pdf = statementPdf((typesetter ??= await openTypesetter()), facts, wholeMonth(lines), seller);
        await saveDocuments(sql, facts.id, { pdf, csv: Buffer.from(linesAsCsv(lines)) });
        return true;
      });
    },
  };

  async function issue(account: string, month: string): Promise<boolean> {
    try {
      await issueStatement({ services, actor: ACTOR, input: { account, month } });
      return true;
    } catch (error) {
      // Staff were first, or it is prepaid now.
      if (error instanceof StaffRefused) return false;
      throw error;
    }
  }

  /** By the day: a month may have a million charges. @throws Error where they do not sum up to the statement's amount */
  async function linesOf({ id, month, amountGrosze }: StatementFacts): Promise<DatedLine[]> {
    const lines: DatedLine[] = [];
    for (let day = `${month}-01`; day.startsWith(month); day = addDays(day, 1)) {
      lines.push(...(await readLinesOfDay(sql, id, day)));
      heartbeat();
    }
    const sum = lines.reduce((all, { netGrosze }) => all + netGrosze, 0);
    if (sum !== amountGrosze) throw new Error(`the lines of ${id} sum up to ${sum}, not to ${amountGrosze}`);
    return lines;
  }
}

async function* following<Row extends { id: string }>(
  next: (after: string) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let after = ''; ;) {
    const page = await next(after);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

/** Counts what is done. Others go on where one fails. @throws the first failure, in the end */
async function countEach<Row extends { id: string }>(
  rows: AsyncIterable<Row>,
  work: (row: Row) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  await tryEach(
    rows,
    async (row) => {
      if (await work(row)) done += 1;
      heartbeat();
    },
    (error, { id }) => void log.warn('statements: one failed', { id, error }),
  );
  return done;
}
