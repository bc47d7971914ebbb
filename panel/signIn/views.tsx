import type { Fault } from '../ask.ts';
import type { Language } from '../language.ts';
import { Field, Summary } from '../parts.tsx';
import { words } from './words.ts';

interface AddressProps {
  language: Language;
  typed: string;
  next: string | null;
  fault: Fault | null;
}

/** The one form to sign in and to sign up. */
export function AddressForm({ language, typed, next, fault }: AddressProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.lead}</p>
      <form method="post" action="/panel" class="stack" noValidate>
        <Field
          {...{ label: say.address, hint: say.addressHint, fault }}
          name="address"
          type="email"
          required
          autoComplete="email"
          value={typed}
        />
        {next === null ? null : <input type="hidden" name="next" value={next} />}
        <button>{say.send}</button>
      </form>
    </>
  );
}

interface CodeProps {
  language: Language;
  address: string;
  fault: Fault | null;
}

/** @param lead in place of the sentence that an e-mail was sent */
export function CodeForm({ language, address, fault, lead }: CodeProps & { lead?: string }) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      {lead === undefined ? (
        <p>
          {say.sentTo[0]}
          <strong>{address}</strong>
          {say.sentTo[1]}
        </p>
      ) : (
        <p>{lead}</p>
      )}
      <form method="post" action="/panel/code" class="stack" noValidate>
        <Field
          {...{ label: say.code, hint: say.codeHint, fault }}
          name="code"
          class="code"
          inputMode="numeric"
          required
          autoComplete="one-time-code"
          maxLength={20}
        />
        <button>{say.signIn}</button>
      </form>
      <section>
        <p>{say.nothingText}</p>
        <Again language={language} address={address} />
        <p>
          <a href="/panel?new=1">{say.otherAddress}</a>
        </p>
      </section>
    </>
  );
}

/** Asks for another e-mail to an address that is known. */
export function Again({ language, address }: { language: Language; address: string }) {
  return (
    <form method="post" action="/panel">
      <input type="hidden" name="address" value={address} />
      <button class="second">{words[language].again}</button>
    </form>
  );
}

/** The page of a link. Opening it changes nothing: programs that check mail open it, too. */
export function LinkForm({
  language,
  address,
  here,
  path,
}: Omit<CodeProps, 'fault'> & { here: boolean; path: string }) {
  const say = words[language];
  return (
    <>
      <p>
        {say.linkText[0]}
        <strong>{address}</strong>
        {say.linkText[1]}
      </p>
      <form method="post" action={path} {...(here ? { 'data-submit': '' } : {})}>
        <button>{say.signIn}</button>
      </form>
    </>
  );
}
