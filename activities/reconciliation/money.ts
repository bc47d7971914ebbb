import { log } from '@temporalio/activity';
import type { Database } from '../../db/connection.ts';
import { closeFindings, reportFinding } from '../../db/maintenance/findings.ts';
import { idFloor } from '../../db/ids.ts';
import { readLedgerStates } from '../../db/money/ledger.ts';
import {
  accountsAfter,
  advanceLedgerChecks,
  type LedgerSum,
  payBack,
  refundableAfter,
  refundableEmailsAfter,
  replaceLedgerCheck,
  sumOn,
} from '../../db/money/ledgerChecks.ts';
import { databaseNow, readPosition, savePosition } from '../../db/maintenance/regularWork.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat, tryEach } from '../failures.ts';
import { noTally, tallyOfAll } from './repairs.ts';

const ACCOUNTS = 200;
const REFUNDS = 500;
// In one run; the next one goes on from there.
const REFUND_PAGES = 20;
// A message ends at most 90 days and 72 hours after it was made.
const REFUND_LOOK_BACK_MS = 100 * 86_400_000;

/** In what parts long ledgers are summed up. */
export interface LedgerParts {
  /** Of an account, added up in one statement. */
  entries: number;
  /** Of an account that is summed up again from the beginning, in one run; the next one goes on from there. */
  steps: number;
}

// Ten million entries in a run.
const PARTS: LedgerParts = { entries: 50_000, steps: 200 };

/**
 * Compares every account's balance with its ledger; one that differs is summed up again from the beginning, and reported where it still
 * does. An account that cannot be checked keeps no other from it.
 * @throws what failed first, once all have been gone through
 */
export async function reconcileLedgers(sql: Database, parts = PARTS): Promise<Tally> {
  const tally = noTally();
  await tryEach(pagesOfAccounts(sql), async (accounts) => {
    tally.looked += accounts.length;
    await checkPage(sql, accounts, parts, tally);
  });
  return tally;
}

async function* pagesOfAccounts(sql: Database): AsyncGenerator<string[]> {
  for (let after = ''; ;) {
    const accounts = await accountsAfter(sql, after, ACCOUNTS);
    const last = accounts.at(-1);
    if (last === undefined) return;
    yield accounts;
    after = last;
    beat();
  }
}

/** Checks accounts together, and where that fails each by itself. */
async function checkPage(
  sql: Database,
  accounts: readonly string[],
  parts: LedgerParts,
  tally: Tally,
): Promise<void> {
  try {
    await checkLedgers(sql, accounts, parts, tally);
  } catch {
    // Where the worker is to stop, that is no failure of an account.
    beat();
    await tryEach(
      accounts,
      (account) => checkLedgers(sql, [account], parts, tally),
      (error, accountId) =>
        void log.warn('reconciliation: a ledger could not be checked', { accountId, error }),
    );
  }
}

async function checkLedgers(
  sql: Database,
  accounts: readonly string[],
  parts: LedgerParts,
  tally: Tally,
): Promise<void> {
  let behind = await advanceLedgerChecks(sql, accounts, parts.entries);
  while (behind.length > 0) {
    beat();
    behind = await advanceLedgerChecks(sql, behind, parts.entries);
  }
  const right: string[] = [];
  for (const [account, { agrees }] of await readLedgerStates(sql, accounts)) {
    if (agrees || (await agreesSummedUpAgain(sql, account, parts, tally))) right.push(account);
  }
  await closeFindings(sql, ['ledger_differs'], right);
}

/** Looks whether it is the last check that is wrong; where it is the ledger, that is reported. */
async function agreesSummedUpAgain(
  sql: Database,
  accountId: string,
  parts: LedgerParts,
  tally: Tally,
): Promise<boolean> {
  if (!(await sumUpAgain(sql, accountId, parts))) return false;
  const state = (await readLedgerStates(sql, [accountId])).get(accountId);
  if (state === undefined || state.agrees) return true;
  const found = { kind: 'ledger_differs', subject: accountId, accountId, details: { ...state } } as const;
  if (await reportFinding(sql, found)) tally.reported += 1;
  return false;
}

/**
 * Sums a ledger up from its beginning, a part at a time: that takes as many runs as it needs, however long the ledger is.
 * @returns whether it is done
 */
async function sumUpAgain(sql: Database, account: string, { entries, steps }: LedgerParts): Promise<boolean> {
  const position = `ledger: ${account}`;
  const [entryId = 0, grosze = 0, testCredits = 0] = (await readPosition(sql, position))
    .split('/')
    .map(Number);
  let sum: LedgerSum = { entryId, grosze, testCredits };
  for (let step = 0; step < steps; step += 1) {
    const next = await sumOn(sql, account, sum, entries);
    if (next === null) {
      await savePosition(sql, position, '');
      await replaceLedgerCheck(sql, account, sum);
      return true;
    }
    sum = next;
    await savePosition(sql, position, `${sum.entryId}/${sum.grosze}/${sum.testCredits}`);
    beat();
  }
  return false;
}

/** Posts refunds that messages and e-mails have coming to them: what ended unpaid is looked at in turn, some thousands in a run. */
export async function reconcileRefunds(sql: Database): Promise<Tally> {
  const since = (await databaseNow(sql)) - REFUND_LOOK_BACK_MS;
  return await tallyOfAll([
    () => payAllBack(sql, 'refunds', idFloor('msg', since), refundableAfter),
    () => payAllBack(sql, 'e-mail refunds', idFloor('em', since), refundableEmailsAfter),
  ]);
}

async function payAllBack(
  sql: Database,
  position: string,
  from: string,
  read: typeof refundableAfter,
): Promise<Tally> {
  const tally = noTally();
  let after = await readPosition(sql, position);
  for (let pages = 0; pages < REFUND_PAGES; pages += 1) {
    const page = await read(sql, after, from, REFUNDS);
    tally.looked += page.length;
    for (const one of page.filter(({ owed }) => owed)) {
      await payBack(sql, one);
      tally.repaired += 1;
    }
    const last = page.at(-1);
    after = page.length < REFUNDS || last === undefined ? '' : `${last.accountId}/${last.id}`;
    await savePosition(sql, position, after);
    beat();
    if (after === '') break;
  }
  return tally;
}
