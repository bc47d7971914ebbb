import type { ShownKey } from '../../db/accounts/keys.ts';
import { ALL_SCOPES, type Scope } from '../../domain/actor.ts';
import type { Fault } from '../ask.ts';
import { type Language, list, moment } from '../language.ts';
import { Act, Choice, Copy, Field, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

/** The form of a new key as it was sent. */
export interface Typed {
  label: string;
  scopes: readonly Scope[];
  fault: Fault | null;
}

export function Keys({
  language,
  keys,
  typed,
}: {
  language: Language;
  keys: readonly ShownKey[];
  typed: Typed;
}) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={typed.fault} />
      <p>{say.lead}</p>
      {keys.length === 0 ? (
        <p>{say.none}</p>
      ) : (
        <Table label={say.heading} columns={say.columns}>
          {keys.map((key) => (
            <Row language={language} shown={key} />
          ))}
        </Table>
      )}
      <section>
        <h2>{say.create}</h2>
        <Form language={language} typed={typed} />
      </section>
    </>
  );
}

function Row({ language, shown }: { language: Language; shown: ShownKey }) {
  const say = words[language];
  const { kind, label, hint, scopes, madeBy, createdAt, lastUsedAt, revokedAt } = shown;
  return (
    <tr>
      <th scope="row">
        {label ?? say.noLabel}
        {kind === 'token' ? <span class="hint"> {say.token}</span> : null}
        <br />
        <code>{hint}</code>
      </th>
      <td>
        {scopes === null
          ? say.all
          : list(
              language,
              scopes.map((scope) => say.scopes[scope]),
            )}
      </td>
      <td>
        {moment(language, createdAt)}
        <br />
        <span class="hint">{madeBy ?? say.staff}</span>
      </td>
      <td>{lastUsedAt === null ? say.never : moment(language, lastUsedAt)}</td>
      <td>
        {revokedAt === null ? (
          <Acts language={language} shown={shown} />
        ) : (
          `${say.revokedAt}: ${moment(language, revokedAt)}`
        )}
      </td>
    </tr>
  );
}

function Acts({
  language,
  shown: { id, kind, label, hint, lastUsedAt },
}: {
  language: Language;
  shown: ShownKey;
}) {
  const say = words[language];
  const name = label ?? hint;
  const used = lastUsedAt === null ? '' : ` ${say.usedAt(moment(language, lastUsedAt))}`;
  return (
    <>
      {kind === 'token' ? (
        <Act
          name={name}
          open={say.rotate}
          text={say.rotateText + used}
          act={say.rotateNow}
          to={`/panel/tokens/${id}/rotate`}
        />
      ) : null}
      <Act
        name={name}
        open={say.revoke}
        text={say.revokeText + used}
        act={say.revokeNow}
        to={`/panel/${kind}s/${id}/revoke`}
      />
    </>
  );
}

function Form({ language, typed: { label, scopes, fault } }: { language: Language; typed: Typed }) {
  const say = words[language];
  return (
    <form method="post" action="/panel/keys" class="stack" noValidate>
      <Field {...{ label: say.label, hint: say.labelHint, fault }} name="label" required value={label} />
      <fieldset>
        <legend>{say.scopesLegend}</legend>
        {fault?.field === 'scope-send' ? <p class="fault">{fault.text}</p> : null}
        {ALL_SCOPES.map((scope) => (
          <Choice
            name={`scope-${scope}`}
            label={say.scopes[scope]}
            hint={say.scopeHints[scope]}
            checked={scopes.includes(scope)}
          />
        ))}
      </fieldset>
      <button>{say.make}</button>
    </form>
  );
}

interface NewKeyProps {
  language: Language;
  secret: string;
  /** Whether it may send, so that an example helps. */
  sends: boolean;
  /** Of the API. */
  url: string;
}

export function NewKey({ language, secret, sends, url }: NewKeyProps) {
  const say = words[language];
  const body = JSON.stringify({ to: '+48500100200', text: say.message });
  return (
    <>
      <p class="notice">{say.madeText}</p>
      <h2>{say.value}</h2>
      <pre>
        <code id="secret">{secret}</code>
      </pre>
      <Copy language={language} of="secret" />
      {sends ? (
        <>
          <h2>{say.curl}</h2>
          <p class="hint">{say.curlHint}</p>
          <pre>
            <code>{`curl ${url}/v1/messages \\\n  -H 'Authorization: Bearer ${secret}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`}</code>
          </pre>
        </>
      ) : null}
      <p>
        <a href="/panel/keys">{say.back}</a>
      </p>
    </>
  );
}
