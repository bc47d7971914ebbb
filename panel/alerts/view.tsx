import type { Member } from '../../db/people/members.ts';
import type { Fault } from '../ask.ts';
import type { Language } from '../language.ts';
import { Choice, Field, Summary } from '../parts.tsx';
import { words as common } from '../words.ts';
import { words } from './words.ts';

/** What names of fields begin with that stand for a person. */
export const PERSON = 'person-';

/** The form as it was sent, or as it is. */
export interface Typed {
  lowBalance: string;
  /** Ids. */
  people: readonly string[];
}

interface Props {
  language: Language;
  members: readonly Member[];
  /** The address that staff set; null: there is none. */
  contact: string | null;
  form: Typed;
  fault: Fault | null;
  saved: boolean;
}

export function Alerts({ language, members, contact, form, fault, saved }: Props) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      {saved ? <p class="notice">{say.saved}</p> : null}
      <p>{say.lead}</p>
      <ul>
        {say.events.map((event) => (
          <li>{event}</li>
        ))}
      </ul>
      <form method="post" action="/panel/alerts" class="stack" noValidate>
        <Field
          {...{ label: say.lowBalance, hint: say.lowBalanceHint, fault }}
          name="low_balance"
          inputMode="decimal"
          maxLength={12}
          value={form.lowBalance}
        />
        <fieldset id="people">
          <legend>{say.people}</legend>
          <p class="hint">{contact === null ? say.noContact : say.contact(contact)}</p>
          {members.map(({ id, address, role }) => (
            <Choice
              name={`${PERSON}${id}`}
              label={address}
              hint={common[language].roles[role]}
              checked={form.people.includes(id)}
            />
          ))}
        </fieldset>
        <button>{say.save}</button>
      </form>
      <p class="hint">{say.webhook}</p>
    </>
  );
}
