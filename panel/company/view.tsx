import type { TypedCompany } from '../../operations/accounts/company.ts';
import type { Fault } from '../ask.ts';
import type { Language } from '../language.ts';
import { Field, Hidden, Select, Summary } from '../parts.tsx';
import { words } from './words.ts';

interface Props {
  language: Language;
  typed: TypedCompany;
  /** Where to go on; null: nowhere. */
  next: string | null;
  fault: Fault | null;
}

export function Company({ language, typed, next, fault }: Props) {
  const say = words[language];
  const about = (name: keyof TypedCompany) => ({ name, fault, value: typed[name] ?? '' });
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.lead}</p>
      <form method="post" action="/panel/company" class="stack" noValidate>
        {next === null ? null : <Hidden fields={{ next }} />}
        <Select {...about('kind')} label={say.kind} options={say.kinds} />
        <Field {...about('nip')} label={say.nip} hint={say.nipHint} inputMode="numeric" maxLength={30} />
        <Field {...about('name')} label={say.name} autoComplete="organization" maxLength={250} />
        <Field {...about('street')} label={say.street} autoComplete="address-line1" maxLength={250} />
        <Field
          {...about('postal_code')}
          label={say.postalCode}
          hint={say.postalCodeHint}
          autoComplete="postal-code"
          maxLength={20}
        />
        <Field {...about('city')} label={say.city} autoComplete="address-level2" maxLength={150} />
        <button>{next === null ? say.save : say.goOn}</button>
      </form>
    </>
  );
}
