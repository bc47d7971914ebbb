import type { Fault } from '../ask.ts';
import type { Language } from '../language.ts';
import { CodeField, Field, Hidden, Summary } from '../parts.tsx';
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
        {next === null ? null : <Hidden fields={{ next }} />}
        <button>{say.send}</button>
      </form>
    </>
  );
}

interface CodeProps {
  language: Language;
  address: string;
  next: string | null;
  fault: Fault | null;
}

/** @param lead in place of the sentence that an e-mail was sent */
export function CodeForm({ language, address, next, fault, lead }: CodeProps & { lead?: string }) {
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
        <CodeField {...{ label: say.code, hint: say.codeHint, fault }} />
        <button>{say.signIn}</button>
      </form>
      <section>
        <p>{say.nothingText}</p>
        <Again {...{ address, next }} label={say.again} />
        <p>
          <a href={`/panel?next=${encodeURIComponent(next ?? '')}`}>{say.otherAddress}</a>
        </p>
      </section>
    </>
  );
}

/** Asks for an e-mail to an address that is known. */
export function Again({ address, next, label }: { address: string; next: string | null; label: string }) {
  return (
    <form method="post" action="/panel">
      <Hidden fields={{ address, ...(next === null ? {} : { next }) }} />
      <button class="second">{label}</button>
    </form>
  );
}

/** The page of a link. Opening it changes nothing: programs that check mail open it, too. */
export function LinkForm({
  language,
  address,
  here,
  path,
}: Pick<CodeProps, 'language' | 'address'> & { here: boolean; path: string }) {
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
