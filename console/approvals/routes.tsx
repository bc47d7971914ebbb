import { execute, readArguments } from '../../commands/command.ts';
import { type Approval, listApprovals, openApproval } from '../../db/people/approvals.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { decide } from '../../operations/people/approvals.ts';
import type { Fault } from '../../panel/ask.ts';
import { moment } from '../../panel/language.ts';
import { Act, Facts, Summary, Table } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { faultOf, labelOf, YES } from '../commands/form.tsx';
import { mayAsk, OFFERS } from '../commands/offered.ts';
import { Value } from '../commands/result.tsx';
import { donePage } from '../commands/routes.tsx';
import { staffPage, type StaffVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';

async function list({ services, staff }: StaffVisit, fault: Fault | null = null): Promise<Answer> {
  const all = await listApprovals(services.sql);
  const open = all.filter(({ decidedBy }) => decidedBy === null);
  const decided = all.filter(({ decidedBy }) => decidedBy !== null);
  const view = (
    <>
      <Summary language="en" fault={fault} />
      <p>
        Money above the limit, erasures and the end of an account need a second person, within seven days.
      </p>
      {open.length === 0 ? <p>Nothing waits.</p> : open.map((one) => <Open {...{ one, staff }} />)}
      {decided.length === 0 ? null : (
        <section>
          <h2>Decided</h2>
          <Table label="Decided" columns={['Command', 'Reason', 'Asked', 'By', 'Decided by', 'Approved']}>
            {decided.map(({ command, reason, createdAt, askedBy, decidedBy, isApproved }) => (
              <tr>
                <td>{command}</td>
                <td class="text">{reason}</td>
                <td>{moment('en', createdAt)}</td>
                <td>{askedBy}</td>
                <td>{decidedBy}</td>
                <td>{isApproved === true ? 'yes' : 'no'}</td>
              </tr>
            ))}
          </Table>
        </section>
      )}
    </>
  );
  return { status: fault === null ? 200 : 422, title: 'Approvals', view };
}

function Open({ one, staff }: { one: Approval; staff: StaffVisit['staff'] }) {
  const { id, command, reason, askedBy, createdAt, arguments: typed } = one;
  const why =
    askedBy === staff.name
      ? 'You asked for it: somebody else decides.'
      : mayAsk(staff.role, command)
        ? null
        : 'Your role does not decide this.';
  const about = { name: `${command} of ${askedBy}`, to: `/console/approvals/${id}` };
  return (
    <section>
      <h2>{command}</h2>
      <Facts
        rows={[
          ...Object.entries(typed ?? {}).map(([name, value]) => {
            const option = OFFERS.get(command)?.command.options[name];
            return [option === undefined ? name : labelOf(option), <Value {...{ name, value }} />] as const;
          }),
          ['Reason', reason],
          ['Asked by', `${askedBy}, ${moment('en', createdAt)}`],
        ]}
      />
      {why !== null ? (
        <p>{why}</p>
      ) : (
        <>
          <Act
            {...about}
            open="Approve"
            act="Approve and do it"
            text="It is done at once."
            fields={{ approve: YES }}
          />
          <Act {...about} open="Decline" act="Decline" text="It is not done." fields={{}} />
        </>
      )}
    </section>
  );
}

async function post(visit: StaffVisit): Promise<Answer> {
  const { services, staff, settings, params, form } = visit;
  const approval = await openApproval(services.sql, params['id'] ?? '');
  if (approval === undefined || !mayAsk(staff.role, approval.command)) return problemPage(404);
  const { id, command: name, arguments: typed, askedBy, reason } = approval;
  const isApproved = form.get('approve') === YES;
  const { command } = OFFERS.get(name)!;
  try {
    // First, so that two who approve it at once do it once.
    await decide(services.sql, id, { by: staff.name, isApproved });
    if (!isApproved) return { to: '/console/approvals' };
    const agreed = YES in command.options ? { [YES]: true } : {};
    const values = { ...readArguments(command, typed ?? {}), ...agreed };
    const asker = {
      actor: { kind: 'staff', name: askedBy } as const,
      grounds: { reason, approved_by: staff.name },
    };
    return donePage(command, await execute(services.sql, asker, command, values, settings.tools));
  } catch (error) {
    return await list(visit, { ...faultOf(command, error), field: null });
  }
}

export const approvalRoutes = [
  staffPage('/console/approvals', STAFF_ROLES, { get: (visit) => list(visit) }),
  staffPage('/console/approvals/:id', STAFF_ROLES, { get: () => ({ to: '/console/approvals' }), post }),
];
