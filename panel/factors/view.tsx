import { encode } from 'uqr';
import type { Factors, ShownPasskey } from '../../db/people/factors.ts';
import type { Fault } from '../ask.ts';
import { PasskeyForm } from '../confirm/view.tsx';
import { type Language, moment } from '../language.ts';
import { Act, CodeField, Copy, Field, Hidden, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

interface ListProps {
  language: Language;
  factors: Factors;
  /** Whether passkeys work where the panel is. */
  hasPasskeys: boolean;
  fault: Fault | null;
}

export function FactorList({ language, factors, hasPasskeys, fault }: ListProps) {
  const say = words[language];
  const { totpSince, passkeys, recoveryCodesLeft } = factors;
  const isOn = totpSince !== null || passkeys.length > 0;
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.lead}</p>
      <section>
        <h2>{say.app}</h2>
        <p>{totpSince === null ? say.appNone : say.appSince(moment(language, totpSince))}</p>
        {totpSince === null ? (
          <Add to="totp" label={say.addApp} />
        ) : (
          <Remove language={language} name={say.app} factor="totp" />
        )}
      </section>
      <section>
        <h2>{say.passkeys}</h2>
        {passkeys.length === 0 ? (
          <p>{say.passkeysNone}</p>
        ) : (
          <Table label={say.passkeys} columns={say.columns}>
            {passkeys.map((passkey) => (
              <PasskeyRow language={language} passkey={passkey} />
            ))}
          </Table>
        )}
        {hasPasskeys ? <Add to="passkey" label={say.addPasskey} /> : <p>{say.passkeysNowhere}</p>}
      </section>
      <section>
        <h2>{say.recovery}</h2>
        <p>{isOn ? say.recoveryLeft(recoveryCodesLeft) : say.recoveryNone}</p>
        {isOn ? (
          <Act
            name=""
            open={say.renew}
            text={say.renewText}
            act={say.renewNow}
            to="/panel/you/factors/recovery"
          />
        ) : null}
      </section>
    </>
  );
}

function Add({ to, label }: { to: 'totp' | 'passkey'; label: string }) {
  return (
    <form method="post" action={`/panel/you/factors/${to}`}>
      <button class="second">{label}</button>
    </form>
  );
}

function Remove({ language, name, factor }: { language: Language; name: string; factor: string }) {
  const say = words[language];
  return (
    <Act
      name={name}
      open={say.remove}
      text={say.removeText}
      act={say.removeNow}
      to="/panel/you/factors/remove"
      fields={{ factor }}
    />
  );
}

function PasskeyRow({ language, passkey }: { language: Language; passkey: ShownPasskey }) {
  const { id, label, createdAt, lastUsedAt } = passkey;
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>{moment(language, createdAt)}</td>
      <td>{lastUsedAt === null ? words[language].never : moment(language, lastUsedAt)}</td>
      <td>
        <Remove language={language} name={label} factor={id} />
      </td>
    </tr>
  );
}

interface NewAppProps {
  language: Language;
  /** In base32. */
  secret: string;
  /** As the QR code holds it. */
  address: string;
  fault: Fault | null;
}

export function NewApp({ language, secret, address, fault }: NewAppProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.scan}</p>
      <QrCode label={say.qr} text={address} />
      <h2>{say.secret}</h2>
      <pre>
        <code id="secret">{secret}</code>
      </pre>
      <Copy language={language} of="secret" />
      <form method="post" action="/panel/you/factors/totp" class="stack" noValidate>
        <CodeField {...{ label: say.code, hint: say.codeHint, fault }} />
        <Hidden fields={{ secret }} />
        <button>{say.addApp}</button>
      </form>
    </>
  );
}

function QrCode({ label, text }: { label: string; text: string }) {
  const { size, data } = encode(text, { border: 4 });
  const bars = data.flatMap((row, y) =>
    [...row.map(Number).join('').matchAll(/1+/g)].map(
      ({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`,
    ),
  );
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={bars.join('')} />
    </svg>
  );
}

interface NewPasskeyProps {
  language: Language;
  label: string;
  /** For the authenticator. */
  options: object;
  fault: Fault | null;
}

export function NewPasskey({ language, label, options, fault }: NewPasskeyProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.passkeyLead}</p>
      <p class="notice" data-without-passkey>
        {say.without}
      </p>
      <PasskeyForm
        language={language}
        options={options}
        action="/panel/you/factors/passkey"
        button={say.addPasskey}
      >
        <Field
          {...{ label: say.label, hint: say.labelHint, fault }}
          name="label"
          required
          maxLength={100}
          value={label}
        />
      </PasskeyForm>
      <Back language={language} />
    </>
  );
}

/** New recovery codes, this once. */
export function RecoveryCodes({ language, codes }: { language: Language; codes: readonly string[] }) {
  const say = words[language];
  return (
    <>
      <p class="notice">{say.codesText}</p>
      <h2>{say.codes}</h2>
      <pre>
        <code id="codes">{codes.map((code) => code.replace(/.{4}(?=.)/g, '$&-')).join('\n')}</code>
      </pre>
      <Copy language={language} of="codes" />
      <Back language={language} />
    </>
  );
}

function Back({ language }: { language: Language }) {
  return (
    <p>
      <a href="/panel/you/factors">{words[language].back}</a>
    </p>
  );
}
