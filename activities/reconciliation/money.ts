import type { Database } from '../../db/connection.ts';
import { closeFindings, reportFinding } from '../../db/maintenance/findings.ts';
import { idFloor } from '../../db/ids.ts';
import { readLedgerState } from '../../db/money/ledger.ts';
import {
  advanceLedgerChecks,
  compareLedgers,
  forgetLedgerCheck,
  payBack,
  refundableAfter,
  refundableEmailsAfter,
} from '../../db/money/ledgerChecks.ts';
import { databaseNow, readPosition, savePosition } from '../../db/maintenance/positions.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';
import { noTally, sumOf } from './tally.ts';

const ACCOUNTS = 200;
const REFUNDS = 500;
// In one run; the next one goes on from there.
const REFUND_PAGES = 20;
// A message ends at most 90 days and 72 hours after it was made.
const REFUND_LOOK_BACK_MS = 100 * 86_400_000;

/** Compares every account's balance with its ledger; one that differs is summed up again from the beginning, and reported. */
export async function reconcileLedgers(sql: Database): Promise<Tally> {
  const tally = noTally();
  for (let after = ''; ;) {
    const { accounts, differing } = await compareLedgers(sql, after, ACCOUNTS);
    const last = accounts.at(-1);
    if (last === undefined) return tally;
    tally.looked += accounts.length;
    const wrong: string[] = [];
    for (const { accountId } of differing) {
      await forgetLedgerCheck(sql, accountId);
      // A whole ledger is read.
      beat();
      const state = await readLedgerState(sql, accountId);
      if (state === undefined || state.agrees) continue;
      wrong.push(accountId);
      const found = { kind: 'ledger_differs', subject: accountId, accountId, details: { ...state } } as const;
      if (await reportFinding(sql, found)) tally.reported += 1;
    }
    const right = accounts.filter((account) => !wrong.includes(account));
    await closeFindings(sql, ['ledger_differs'], right);
    await advanceLedgerChecks(sql, right);
    after = last;
    beat();
  }
}

/** Posts refunds that messages and e-mails have coming to them: what ended unpaid is looked at in turn, some thousands in a run. */
export async function reconcileRefunds(sql: Database): Promise<Tally> {
  const since = (await databaseNow(sql)) - REFUND_LOOK_BACK_MS;
  return sumOf(
    await payAllBack(sql, 'refunds', idFloor('msg', since), refundableAfter),
    await payAllBack(sql, 'e-mail refunds', idFloor('em', since), refundableEmailsAfter),
  );
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
