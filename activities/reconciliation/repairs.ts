import type { Database } from '../../db/connection.ts';
import {
  closeFindings,
  type Finding,
  type FindingKind,
  mayRestart,
  recordRepair,
  reportFinding,
  timesRepaired,
} from '../../db/maintenance/findings.ts';
import { transaction } from '../../db/transaction.ts';
import { startOnce } from '../../workflows/startOnce.ts';
import { currentRun, type Verdict } from './judging.ts';

// One that is lost again and again fails by itself: starting it once more would not help.
const REPAIRS_MAX = 3;

/** What is done about what was found. */
export interface Repairs {
  /** Notes the repair, then makes it: one that is cut off is noted, and made by the next run. */
  repair: (finding: Finding, action: string, make: () => Promise<unknown>) => Promise<Verdict>;
  report: (finding: Finding) => Promise<Verdict>;
  /** What was found about it before is over. */
  wellAgain: (id: string, kinds: readonly FindingKind[]) => Promise<Verdict>;
}

/** @param restartsPerRun how many repairs one run of the reconciliation makes at most */
export function createRepairs(sql: Database, restartsPerRun: number): Repairs {
  const report = async (finding: Finding): Promise<Verdict> =>
    (await reportFinding(sql, finding)) ? 'reported' : 'nothing';

  /** @returns false once this run has made as many as it may */
  async function note(finding: Finding, action: string): Promise<boolean> {
    const run = currentRun();
    return await transaction(sql, async (tx) => {
      if (!(await mayRestart(tx, run, restartsPerRun))) return false;
      await recordRepair(tx, action, { ...finding, details: { ...finding.details, run } });
      return true;
    });
  }

  return {
    report,
    async repair(finding, action, make) {
      if ((await timesRepaired(sql, finding.kind, finding.subject)) >= REPAIRS_MAX) return report(finding);
      if (!(await note(finding, action))) return 'capped';
      await startOnce(make());
      return 'repaired';
    },
    async wellAgain(id, kinds) {
      await closeFindings(sql, kinds, [id]);
      return 'nothing';
    },
  };
}
