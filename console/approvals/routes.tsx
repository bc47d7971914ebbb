import { execute, readArguments } from '../../commands/command.ts';
import { type Approval, listApprovals, openApproval } from '../../db/people/approvals.ts';
import { roleOfStaff } from '../../db/people/staff.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { decide } from '../../operations/people/approvals.ts';
import type { Fault } from '../../panel/ask.ts';
import { moment } from '../../panel/language.ts';
import { Act, Facts, Summary, Table } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { faultOf, labelOf, YES } from '../commands/form.tsx';
import { mayAskWith, OFFERS } from '../commands/offered.ts';
import { Value } from '../commands/result.tsx';
import { donePage, rehearse, Told } from '../commands/routes.tsx';
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
  const { id, command, reason, askedBy, createdAt } = one;
  const why = whyNot(one, staff);
  return (
    <section>
      <h2>{command}</h2>
      <Facts
        rows={[
          ['Reason', reason],
          ['Asked by', `${askedBy}, ${moment('en', createdAt)}`],
        ]}
      />
      <p>
        {why ?? (
          <a href={`/console/approvals/${id}`}>
            Decide
            <span class="visually-hidden">
              {' '}
              on {command} of {askedBy}
            </span>
          </a>
        )}
      </p>
    </section>
  );
}

/** Why somebody does not decide; null: they may, and are shown what was typed. */
function whyNot({ askedBy, command, arguments: typed }: Approval, { name, role }: StaffVisit['staff']) {
  if (askedBy === name) return 'You asked for it: somebody else decides.';
  return mayAskWith(role, command, typed ?? {}) ? null : 'Your role does not decide this.';
}

async function openIn({ services, staff, params }: StaffVisit): Promise<Approval | undefined> {
  const approval = await openApproval(services.sql, params['id'] ?? '');
  return approval === undefined || whyNot(approval, staff) !== null ? undefined : approval;
}

/** What was asked for, and what it would do now. */
async function show(visit: StaffVisit): Promise<Answer> {
  const approval = await openIn(visit);
  if (approval === undefined) return problemPage(404);
  const { id, command: name, arguments: typed, reason, askedBy, createdAt } = approval;
  const { command } = OFFERS.get(name)!;
  const told = await rehearse(visit, command, readArguments(command, typed ?? {})).catch((error: unknown) =>
    faultOf(command, error),
  );
  const about = { name: `${name} of ${askedBy}`, to: `/console/approvals/${id}` };
  const view = (
    <>
      <p>{command.about}</p>
      <Facts
        rows={[
          ...Object.entries(typed ?? {}).map(([option, value]) => {
            const argument = command.options[option];
            const label = argument === undefined ? option : labelOf(argument);
            return [label, <Value name={option} value={value} />] as const;
          }),
          ['Reason', reason],
          ['Asked by', `${askedBy}, ${moment('en', createdAt)}`],
        ]}
      />
      {'text' in told ? <p class="notice">{told.text}</p> : <Told {...told} />}
      <Act
        {...about}
        open="Approve"
        act="Approve and do it"
        text="It is done at once."
        fields={{ approve: YES }}
      />
      <Act {...about} open="Decline" act="Decline" text="It is not done." fields={{}} />
    </>
  );
  return { status: 200, title: `Approve: ${name}`, view };
}

async function post(visit: StaffVisit): Promise<Answer> {
  const { services, staff, settings, form } = visit;
  const approval = await openIn(visit);
  if (approval === undefined) return problemPage(404);
  const { id, command: name, arguments: typed, askedBy, reason } = approval;
  const isApproved = form.get('approve') === YES;
  const { command } = OFFERS.get(name)!;
  const role = await roleOfStaff(services.sql, askedBy);
  if (isApproved && (role === undefined || !mayAskWith(role, name, typed ?? {})))
    return problemPage(409, `${askedBy} may not do this any more.`);
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
  staffPage('/console/approvals/:id', STAFF_ROLES, { get: show, post }),
];
