import { dismissFinding as store, type FindingRow } from '../../db/maintenance/findings.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';

/** Says that a finding is dealt with; what was repaired too often may be repaired again. @throws StaffRefused */
export const dismissFinding = recorded('findings dismiss', async (sql, { id }: { id: number }) => {
  const finding: FindingRow | undefined = await store(sql, id);
  if (finding === undefined) throw new StaffRefused({ reason: 'finding_missing', finding: id });
  const { kind, subject, accountId: account } = finding;
  return {
    data: finding,
    subject,
    details: { finding: id, kind },
    ...(account === null ? {} : { account }),
  };
});
