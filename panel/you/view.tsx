import type { Membership } from '../../db/people/people.ts';
import type { SessionRow, ShownSession } from '../../db/people/sessions.ts';
import { type Language, moment } from '../language.ts';
import { Table } from '../parts.tsx';
import { words as common } from '../words.ts';
import { words } from './words.ts';

interface Props {
  language: Language;
  session: SessionRow;
  memberships: readonly Membership[];
  sessions: readonly ShownSession[];
}

export function You({ language, session, memberships, sessions }: Props) {
  const say = words[language];
  return (
    <>
      <section>
        <h2>{say.address}</h2>
        <p>
          <strong>{session.address}</strong>
        </p>
        <p class="hint">{say.addressHint}</p>
        <p>
          <a href="/panel/you/address">{say.change}</a>
        </p>
      </section>
      <section>
        <h2>{say.factors}</h2>
        <p>{session.hasFactor ? say.factorsOn : say.factorsOff}</p>
        <p>
          <a href="/panel/you/factors">{say.factorsOpen}</a>
        </p>
      </section>
      <section>
        <h2>{say.accounts}</h2>
        <ul class="rows">
          {memberships.map((one) => (
            <Account language={language} membership={one} shown={one.accountId === session.account?.id} />
          ))}
        </ul>
      </section>
      <section>
        <h2>{say.sessions}</h2>
        <p>{say.lead}</p>
        <Sessions {...{ language, session, sessions }} />
        {sessions.length > 1 ? (
          <form method="post" action="/panel/sessions/end">
            <button class="second">{say.endOthers}</button>
          </form>
        ) : null}
      </section>
    </>
  );
}

function Account({
  language,
  membership,
  shown,
}: {
  language: Language;
  membership: Membership;
  shown: boolean;
}) {
  const say = words[language];
  const { accountId, accountName, role } = membership;
  return (
    <li>
      <span>
        {accountName} <code>{accountId}</code> <span class="hint">{common[language].roles[role]}</span>
      </span>{' '}
      {shown ? (
        <span class="badge">{say.shown}</span>
      ) : (
        <form method="post" action="/panel/account">
          <button class="second" name="account" value={accountId}>
            {say.open}
            <span class="visually-hidden"> {accountName}</span>
          </button>
        </form>
      )}
    </li>
  );
}

function Sessions({ language, session, sessions }: Pick<Props, 'language' | 'session' | 'sessions'>) {
  const say = words[language];
  return (
    <Table label={say.sessions} columns={say.columns}>
      {sessions.map(({ id, device, address, createdAt, lastSeenAt }) => (
        <tr>
          <th scope="row">{device ?? say.unknown}</th>
          <td>{address}</td>
          <td>{moment(language, createdAt)}</td>
          <td>{moment(language, lastSeenAt)}</td>
          <td>
            {id === session.id ? (
              <span class="badge">{say.here}</span>
            ) : (
              <form method="post" action="/panel/sessions/end">
                <button class="second" name="id" value={id}>
                  {say.end}
                </button>
              </form>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
