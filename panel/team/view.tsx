import type { Invitation } from '../../db/people/invitations.ts';
import type { Member } from '../../db/people/members.ts';
import { type Role, ROLES } from '../../domain/actor.ts';
import type { Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, Field, Select, Summary, Table } from '../parts.tsx';
import { words as common } from '../words.ts';
import { words } from './words.ts';

/** The form of an invitation as it was sent. */
export interface Typed {
  address: string;
  role: Role;
  fault: Fault | null;
}

interface Props {
  language: Language;
  members: readonly Member[];
  /** Of who looks. */
  person: string;
  /** Null: who looks is no owner, and changes nothing. */
  owned: { invitations: readonly Invitation[]; typed: Typed } | null;
  fault: Fault | null;
}

export function Team({ language, members, person, owned, fault }: Props) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <Table label={say.heading} columns={say.columns}>
        {members.map((member) => (
          <tr>
            <th scope="row">
              {member.address} {member.id === person ? <span class="badge">{say.you}</span> : null}
            </th>
            <td>{common[language].roles[member.role]}</td>
            <td>{moment(language, member.since)}</td>
            <td>
              {owned === null ? null : <RoleForm language={language} member={member} />}
              {member.id === person ? (
                <Act
                  name=""
                  open={say.leave}
                  text={say.leaveText}
                  act={say.leaveNow}
                  to="/panel/team/leave"
                />
              ) : owned === null ? null : (
                <Act
                  name={member.address}
                  open={say.remove}
                  text={say.removeText}
                  act={say.removeNow}
                  to={`/panel/team/${member.id}/remove`}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
      {owned === null ? null : (
        <>
          <section>
            <h2>{say.invite}</h2>
            <InvitationForm language={language} typed={owned.typed} />
          </section>
          <section>
            <h2>{say.open}</h2>
            <Invitations language={language} invitations={owned.invitations} />
          </section>
        </>
      )}
    </>
  );
}

function RoleForm({ language, member }: { language: Language; member: Member }) {
  const say = words[language];
  return (
    <details>
      <summary>
        {say.change}
        <span class="visually-hidden"> {member.address}</span>
      </summary>
      <p>{say.changeText}</p>
      <form method="post" action={`/panel/team/${member.id}/role`}>
        {ROLES.filter((role) => role !== member.role).map((role) => (
          <button class="second" name="role" value={role}>
            {common[language].roles[role]}
          </button>
        ))}
      </form>
    </details>
  );
}

function InvitationForm({ language, typed }: { language: Language; typed: Typed }) {
  const say = words[language];
  const { address, role, fault } = typed;
  return (
    <form method="post" action="/panel/team" class="stack" noValidate>
      <Field
        {...{ label: say.address, hint: say.addressHint, fault }}
        name="address"
        type="email"
        required
        value={address}
      />
      <Select {...{ label: say.role, fault }} name="role" options={say.roles} value={role} />
      <button>{say.send}</button>
    </form>
  );
}

function Invitations({ language, invitations }: { language: Language; invitations: readonly Invitation[] }) {
  const say = words[language];
  if (invitations.length === 0) return <p>{say.none}</p>;
  return (
    <Table label={say.open} columns={say.openColumns}>
      {invitations.map(({ id, address, role, invitedBy, expiresAt }) => (
        <tr>
          <th scope="row">{address}</th>
          <td>{common[language].roles[role]}</td>
          <td>{invitedBy ?? say.nobody}</td>
          <td>{moment(language, expiresAt)}</td>
          <td>
            {(['resend', 'withdraw'] as const).map((act) => (
              <form method="post" action={`/panel/team/invitations/${id}/${act}`}>
                <button class="second">
                  {say[act]}
                  <span class="visually-hidden"> {address}</span>
                </button>
              </form>
            ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}
