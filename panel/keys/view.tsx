import type { ShownKey } from '../../db/accounts/keys.ts';
import { ALL_SCOPES, type Scope } from '../../domain/actor.ts';
import { endsSoon } from '../../operations/accounts/keys.ts';
import type { Fault } from '../ask.ts';
import { count, type Language, list, moment } from '../language.ts';
import { Act, Choice, Copy, Field, Select, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

/** The form of a new key as it was sent. */
export interface Typed {
  kind: ShownKey['kind'];
  label: string;
  /** The last day it works; empty: it does not end by itself. */
  ends: string;
  scopes: readonly Scope[];
  fault: Fault | null;
}

export function Keys({
  language,
  keys,
  hasOldTestKey,
  typed,
}: {
  language: Language;
  keys: readonly ShownKey[];
  /** Of before the account went live. */
  hasOldTestKey: boolean;
  typed: Typed;
}) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={typed.fault} />
      <p>{say.lead}</p>
      {hasOldTestKey ? <p class="notice">{say.oldTestKey}</p> : null}
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
  const { kind, label, hint, scopes, madeBy, createdAt, expiresAt, lastUsedAt, recentRequests } = shown;
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
        {expiresAt === null ? null : (
          <p class="hint">
            {say.until} {moment(language, expiresAt)}
          </p>
        )}
      </td>
      <td>{lastUsedAt === null ? say.never : moment(language, lastUsedAt)}</td>
      <td>{count(language, recentRequests)}</td>
      <td>
        <State language={language} shown={shown} />
      </td>
    </tr>
  );
}

const HOUR_MS = 3_600_000;

function State({
  language,
  shown: { id, kind, label, hint, lastUsedAt, expiresAt, revokedAt, valid },
}: {
  language: Language;
  shown: ShownKey;
}) {
  const say = words[language];
  if (revokedAt !== null) return <>{`${say.revokedAt}: ${moment(language, revokedAt)}`}</>;
  if (!valid && expiresAt !== null) return <>{`${say.ended}: ${moment(language, expiresAt)}`}</>;
  const name = label ?? hint;
  const inUse = lastUsedAt !== null && Date.now() - lastUsedAt.getTime() < HOUR_MS;
  const usedAt = inUse ? say.inUse : say.usedAt;
  const used = lastUsedAt === null ? '' : ` ${usedAt(moment(language, lastUsedAt))}`;
  return (
    <>
      {endsSoon({ expiresAt }) ? null : (
        <Act
          name={name}
          open={say.rotate}
          text={say.rotateText + used}
          act={say.rotateNow}
          to={`/panel/${kind}s/${id}/rotate`}
        >
          <button class="second" name="grace" value="yes">
            {say.rotateSoon}
          </button>{' '}
        </Act>
      )}
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

function Form({
  language,
  typed: { kind, label, ends, scopes, fault },
}: {
  language: Language;
  typed: Typed;
}) {
  const say = words[language];
  return (
    <form method="post" action="/panel/keys" class="stack" noValidate>
      <Select name="kind" label={say.kind} hint={say.kindHint} options={say.kinds} value={kind} />
      <Field {...{ label: say.label, hint: say.labelHint, fault }} name="label" required value={label} />
      <Field {...{ label: say.ends, hint: say.endsHint, fault }} name="ends" type="date" value={ends} />
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
  /** A token of v1.2.0. */
  isEarlier: boolean;
  /** Of the API. */
  url: string;
}

export function NewKey({ language, secret, sends, isEarlier, url }: NewKeyProps) {
  const say = words[language];
  const to = '+48500100200';
  const body = JSON.stringify(isEarlier ? { to, message: say.message } : { to, text: say.message });
  const path = isEarlier ? '/v1/sms' : '/v1/messages';
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
            <code>{`curl ${url}${path} \\\n  -H 'Authorization: Bearer ${secret}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`}</code>
          </pre>
        </>
      ) : null}
      <p>
        <a href="/panel/keys">{say.back}</a>
      </p>
    </>
  );
}
