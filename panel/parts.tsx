import type { ComponentChildren, JSX } from 'preact';
import type { Language } from './language.ts';
import { words } from './words.ts';

/** What is wrong with a form, above it, with a link to the field. */
export function Summary({
  language,
  field,
  fault,
}: {
  language: Language;
  field: string;
  fault: string | null;
}) {
  if (fault === null) return null;
  return (
    <div class="summary" role="alert">
      <h2>{words[language].correct}</h2>
      <p>
        <a href={`#${field}`}>{fault}</a>
      </p>
    </div>
  );
}

type FieldProps = JSX.IntrinsicElements['input'] & {
  name: string;
  label: string;
  hint: string;
  fault: string | null;
};

/** An input with its label, hint and fault, which readers are told with it. */
export function Field({ name, label, hint, fault, ...input }: FieldProps) {
  const about = fault === null ? `${name}-hint` : `${name}-hint ${name}-fault`;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <span class="hint" id={`${name}-hint`}>
        {hint}
      </span>
      {fault === null ? null : (
        <span class="fault" id={`${name}-fault`}>
          {fault}
        </span>
      )}
      <input
        id={name}
        name={name}
        required
        aria-describedby={about}
        aria-invalid={fault !== null}
        {...input}
      />
    </div>
  );
}

interface TableProps {
  label: string;
  columns: Readonly<Record<string, string>>;
  /** Rows. */
  children: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the screen. */
export function Table({ label, columns, children }: TableProps) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {Object.values(columns).map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
