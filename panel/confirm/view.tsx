import type { ComponentChildren } from 'preact';
import { asset } from '../../pages/assets.ts';
import type { Fault } from '../ask.ts';
import type { Language } from '../language.ts';
import { Field, Hidden, Summary } from '../parts.tsx';
import { Again } from '../signIn/views.tsx';
import { words } from './words.ts';

/** Script of pages with a `PasskeyForm`. */
export const PASSKEY_SCRIPT = asset(new URL('passkey.js', import.meta.url));

interface ConfirmProps {
  language: Language;
  address: string;
  next: string | null;
  /** Whether this is for a form, and not to enter. */
  isAgain: boolean;
  /** What a second factor is asked by; null: the person has none, and gets an e-mail. */
  factor: {
    /** For a passkey; null: the person has none. */
    options: object | null;
    fault: Fault | null;
  } | null;
}

/** Asks for proof of who it is: the second factor, or without one an e-mail. */
export function Confirm({ language, address, next, isAgain, factor }: ConfirmProps) {
  const say = words[language];
  const lead = <p>{isAgain ? say.again : say.second}</p>;
  if (factor === null)
    return (
      <>
        {lead}
        <p>
          {say.byEmail[0]}
          <strong>{address}</strong>
          {say.byEmail[1]}
        </p>
        <Again address={address} next={next} label={say.send} />
      </>
    );
  const { options, fault } = factor;
  const back = next === null ? {} : { next };
  return (
    <>
      <Summary language={language} fault={fault} />
      {lead}
      {options === null ? null : (
        <PasskeyForm {...{ language, options, fields: back }} action="/panel/confirm" button={say.passkey} />
      )}
      <form method="post" action="/panel/confirm" class="stack" noValidate>
        <Field
          {...{ label: say.code, hint: say.codeHint, fault }}
          name="code"
          required
          autoComplete="one-time-code"
          maxLength={40}
        />
        <Hidden fields={back} />
        <button>{say.confirm}</button>
      </form>
    </>
  );
}

interface PasskeyFormProps {
  language: Language;
  action: string;
  /** For the authenticator. */
  options: object;
  fields?: Readonly<Record<string, string>>;
  button: string;
  children?: ComponentChildren;
}

/** A form whose `response` an authenticator fills in, where the browser has one. */
export function PasskeyForm({ language, action, options, fields = {}, button, children }: PasskeyFormProps) {
  return (
    <form method="post" action={action} class="stack" data-passkey={JSON.stringify(options)} hidden>
      {children}
      <Hidden fields={{ ...fields, response: '' }} />
      <p class="fault" role="alert" hidden>
        {words[language].passkeyFailed}
      </p>
      <button class="second">{button}</button>
    </form>
  );
}
