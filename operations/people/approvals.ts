import { writeAudit } from '../../db/accounts/audit.ts';
import { type Database, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { addApproval, decideApproval, type NewApproval } from '../../db/people/approvals.ts';
import { StaffRefused } from '../../domain/refusals.ts';

/** Asks another of staff to approve a command. What was typed stays out of the audit log. @throws StaffRefused approvals_too_many */
export async function askApproval(sql: Database, asked: NewApproval): Promise<void> {
  const id = newId('apr');
  const { command, reason, askedBy: actor } = asked;
  await transaction(sql, async (tx) => {
    if (!(await addApproval(tx, { id, ...asked }))) throw new StaffRefused({ reason: 'approvals_too_many' });
    const details = { command, reason };
    await writeAudit(tx, { actor, action: 'approval ask', account: null, subject: id, details });
  });
}

/** Approves or declines, once. @throws StaffRefused approval_missing, also to who has asked */
export async function decide(
  sql: Database,
  id: string,
  { by: actor, isApproved }: { by: string; isApproved: boolean },
): Promise<void> {
  await transaction(sql, async (tx) => {
    if (!(await decideApproval(tx, id, { by: actor, isApproved })))
      throw new StaffRefused({ reason: 'approval_missing', approval: id });
    const details = { approved: isApproved };
    await writeAudit(tx, { actor, action: 'approval decide', account: null, subject: id, details });
  });
}
