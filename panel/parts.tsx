import type { ComponentChildren, JSX } from 'preact';
import type { Fault } from './ask.ts';
import type { Language } from './language.ts';
import { words } from './words.ts';

/** What is wrong with a form, above it, with a link to its field. */
export function Summary({ language, fault }: { language: Language; fault: Fault | null }) {
  if (fault === null) return null;
  const { field, text } = fault;
  return (
    <div class="summary" role="alert">
      <h2>{words[language].correct}</h2>
      <p>{field === null ? text : <a href={`#${field}`}>{text}</a>}</p>
    </div>
  );
}

interface About {
  name: string;
  label: string;
  hint?: string | undefined;
  /** Of the form: shown here if it is this field's. */
  fault?: Fault | null;
}

/** Label, hint and fault of a field, which readers are told with it. */
function Labelled({ name, label, hint, fault = null, children }: About & { children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint === undefined ? null : (
        <span class="hint" id={`${name}-hint`}>
          {hint}
        </span>
      )}
      {fault?.field === name ? (
        <span class="fault" id={`${name}-fault`}>
          {fault.text}
        </span>
      ) : null}
      {children}
    </div>
  );
}

function told({ name, hint, fault = null }: About) {
  const isWrong = fault?.field === name;
  const about = [hint === undefined ? [] : [`${name}-hint`], isWrong ? [`${name}-fault`] : []].flat();
  return {
    ...{ id: name, name },
    ...(about.length === 0 ? {} : { 'aria-describedby': about.join(' ') }),
    ...(isWrong ? { 'aria-invalid': true } : {}),
  };
}

/** An input on one line. */
export function Field({ name, label, hint, fault = null, ...input }: About & JSX.IntrinsicElements['input']) {
  const about = { name, label, hint, fault };
  return (
    <Labelled {...about}>
      <input {...told(about)} {...input} />
    </Labelled>
  );
}

/** An input for a code that was sent, or is shown by an app. */
export function CodeField(about: Omit<About, 'name'>) {
  return (
    <Field
      {...about}
      name="code"
      class="code"
      inputMode="numeric"
      required
      autoComplete="one-time-code"
      maxLength={20}
    />
  );
}

/** An input on several lines. */
export function TextArea({
  name,
  label,
  hint,
  fault = null,
  ...input
}: About & JSX.IntrinsicElements['textarea']) {
  const about = { name, label, hint, fault };
  return (
    <Labelled {...about}>
      <textarea rows={4} {...told(about)} {...input} />
    </Labelled>
  );
}

interface SelectProps extends About {
  /** Names by value. */
  options: Readonly<Record<string, string>>;
  value: string;
}

/** One choice of several. */
export function Select({ options, value, ...about }: SelectProps) {
  return (
    <Labelled {...about}>
      <select {...told(about)}>
        {Object.entries(options).map(([option, name]) => (
          <option value={option} selected={option === value}>
            {name}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** A box to tick. */
export function Choice({
  name,
  label,
  hint,
  checked,
}: Pick<About, 'name' | 'label' | 'hint'> & { checked: boolean }) {
  return (
    <label class="choice">
      <input type="checkbox" id={name} name={name} checked={checked} />
      <span>
        {label} {hint === undefined ? null : <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}

interface TableProps {
  label: string;
  /** Headings; of a column of actions, too. */
  columns: Readonly<Record<string, string>> | readonly string[];
  /** Rows. */
  children: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the screen. */
export function Table({ label, columns, children }: TableProps) {
  return (
    <section class="scroll" aria-label={label} tabIndex={0}>
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
    </section>
  );
}

/** One of the numbers in `<dl class="figures">`. */
export function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** For how many days the balance lasts; null: nothing was charged. */
export function Runway({ language, days }: { language: Language; days: number | null }) {
  const say = words[language];
  return days === null ? null : <Figure name={say.runway} value={say.runwayDays(days)} />;
}

/** Terms and what they stand for, one a line; null stands for nothing, and is left out. */
export function Facts({ rows }: { rows: readonly (readonly [term: string, is: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([term, is]) =>
        is === null ? null : (
          <div>
            <dt>{term}</dt>
            <dd>{is}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

interface ActProps {
  /** What the act is about, for readers who hear the button alone. */
  name: string;
  /** The words that open it, and on its button. */
  open: string;
  act: string;
  /** What happens. */
  text: string;
  to: string;
  fields?: Readonly<Record<string, string>>;
  /** Beside the button: fields, or a milder act. */
  children?: ComponentChildren;
}

/** An act that cannot be undone: the button is behind a sentence that says so. */
export function Act({ name, open, act, text, to, fields = {}, children }: ActProps) {
  return (
    <details>
      <summary>
        {open}
        <span class="visually-hidden"> {name}</span>
      </summary>
      <p>{text}</p>
      <form method="post" action={to} class="stack">
        <Hidden fields={fields} />
        {children}
        <button class="danger">{act}</button>
      </form>
    </details>
  );
}

export function Hidden({ fields }: { fields: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

interface FiltersProps {
  language: Language;
  path: string;
  /** Fields. */
  children: ComponentChildren;
}

/** Filters of the list in `Results`, which are in the address. With JavaScript, the list follows what is typed. */
export function Filters({ language, path, children }: FiltersProps) {
  const say = words[language];
  return (
    <form
      class="filters"
      action={path}
      role="search"
      hx-get={path}
      hx-trigger="change, input delay:400ms, submit"
      hx-target="#results"
      hx-select="#results"
      hx-swap="outerHTML"
      hx-push-url="true"
    >
      {children}
      <button class="second">{say.filter}</button>
      <a href={path}>{say.clear}</a>
    </form>
  );
}

/** A search by name, where a list has more than one page. */
export function NameFilter({
  language,
  path,
  query,
  next,
}: Pick<ResultsProps, 'language' | 'path' | 'query' | 'next'>) {
  if (next === null && !isFiltered(query)) return null;
  return (
    <Filters language={language} path={path}>
      <Field name="q" type="search" label={words[language].inName} value={query.get('q') ?? ''} />
    </Filters>
  );
}

/** Whether the address of a list has a filter that is filled in. */
export function isFiltered(query: URLSearchParams): boolean {
  return [...query.values()].some((value) => value !== '');
}

interface ResultsProps {
  language: Language;
  /** Of the page, with its filters. */
  path: string;
  query: URLSearchParams;
  /** Cursor of the next page; null: this is the last one. */
  next: string | null;
  /** Whether the list follows what happens, by itself. */
  live?: boolean;
  children: ComponentChildren;
}

/** A page of a list, with a link to the next one. */
export function Results({ language, path, query, next, live = false, children }: ResultsProps) {
  const say = words[language];
  const onward = new URLSearchParams(query);
  if (next !== null) onward.set('cursor', next);
  const first = new URLSearchParams(query);
  first.delete('cursor');
  const poll = {
    'hx-get': addressOf(path, query),
    'hx-trigger': 'every 10s',
    'hx-select': '#results',
    'hx-swap': 'outerMorph',
  };
  return (
    <div id="results" {...(live ? poll : {})}>
      {children}
      <p class="pages">
        {query.has('cursor') ? <a href={addressOf(path, first)}>{say.firstPage}</a> : null}{' '}
        {next === null ? null : (
          <a href={addressOf(path, onward)} rel="next">
            {say.nextPage}
          </a>
        )}
      </p>
    </div>
  );
}

interface ListingProps extends Omit<ResultsProps, 'children'>, Omit<TableProps, 'children'> {
  rows: readonly ComponentChildren[];
  /** What is said where there is no row. */
  none: ComponentChildren;
  /** Of the filters: said in place of rows. */
  fault?: Fault | null;
  /** Below the table. */
  children?: ComponentChildren;
}

/** A page of a list as a table. */
export function Listing({ label, columns, rows, none, fault = null, children, ...page }: ListingProps) {
  return (
    <Results {...page}>
      {fault !== null ? (
        <p role="alert">{fault.text}</p>
      ) : rows.length === 0 ? (
        <p>{none}</p>
      ) : (
        <>
          <Table {...{ label, columns }}>{rows}</Table>
          {children}
        </>
      )}
    </Results>
  );
}

function addressOf(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Copies the text of the element with the id, where JavaScript runs. */
export function Copy({ language, of }: { language: Language; of: string }) {
  return (
    <button type="button" class="second" data-copy={of} hidden>
      {words[language].copy}
    </button>
  );
}
