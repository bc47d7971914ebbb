import type { ComponentChildren } from 'preact';
import type { Shown } from '../../commands/command.ts';
import { isList, named, printable, type Row } from '../../commands/output.ts';
import { ID_BODY } from '../../domain/ids.ts';
import { count, moment, pln } from '../../panel/language.ts';
import { Facts, Table } from '../../panel/parts.tsx';
import { pagePath } from '../menu.ts';

// The command line has the rest.
const ROWS_MAX = 1_000;

// Characters that are not read in a narrow column.
const LONG = 60;
const ID = new RegExp(`([a-z]+_${ID_BODY})`);

/** An id, which leads to its page if it has one. */
export function Id({ id }: { id: string }) {
  const path = pagePath(id);
  return path === null ? <code>{id}</code> : <a href={path}>{id}</a>;
}

/** What a command answers: facts, and a table for each list. */
export function Result({ shown: { result, remarks = [], columns } }: { shown: Shown }) {
  const entries = Object.entries(named(result));
  return (
    <>
      {remarks.map((remark) => (remark === null ? null : <p class="notice">{remark}</p>))}
      <Facts
        rows={entries
          .filter(([, value]) => !isList(value))
          .map(([name, value]) => [words(name), <Value {...{ name, value }} />] as const)}
      />
      {entries.map(([name, value]) =>
        isList(value) && (value.length > 0 || name !== 'data' || entries.length === 1) ? (
          <Rows {...{ name, rows: value }} columns={name === 'data' ? columns : undefined} />
        ) : null,
      )}
    </>
  );
}

function Rows({
  name,
  rows,
  columns,
}: {
  name: string;
  rows: readonly Row[];
  columns: readonly string[] | undefined;
}) {
  const [first] = rows;
  const title = name === 'data' ? null : <h2>{words(name)}</h2>;
  if (first === undefined)
    return (
      <section>
        {title}
        <p>None.</p>
      </section>
    );
  const shown = columns ?? Object.keys(first);
  return (
    <section>
      {title}
      <Table label={words(name)} columns={shown.map(words)}>
        {rows.slice(0, ROWS_MAX).map((row) => (
          <tr>
            {shown.map((column) => (
              <td>
                <Value name={column} value={row[column]} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {rows.length > ROWS_MAX ? (
        <p>
          The first {ROWS_MAX} of {rows.length}.
        </p>
      ) : null}
    </section>
  );
}

/** A value by its name and type; ids lead to their pages. */
export function Value({ name, value }: { name: string; value: unknown }): ComponentChildren {
  if (value === null || value === undefined || value === '') return '–';
  if (value instanceof Date) return <time dateTime={value.toISOString()}>{moment('en', value)}</time>;
  if (typeof value === 'number' && name.endsWith('_grosze')) return pln('en', value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string')
    return (
      <span class={value.length > LONG ? 'text long' : 'text'}>
        {printable(value)
          .split(ID)
          .map((part, index) => (index % 2 === 1 ? <Id id={part} /> : part))}
      </span>
    );
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return value.length === 0
      ? '–'
      : value.map((item: unknown, index) => [index === 0 ? '' : ', ', <Value {...{ name, value: item }} />]);
  // An id is quoted as it stands.
  if (typeof value === 'number') return name === 'id' ? String(value) : count('en', value);
  return <code>{printable(JSON.stringify(value))}</code>;
}

const SPOKEN: Readonly<Record<string, string>> = { would: 'Action', on: 'Can be done for', of: 'Of' };

export const words = (name: string): string => {
  if (name in SPOKEN) return SPOKEN[name]!;
  const spoken = name.replace(/_(grosze|at)$/, '').replaceAll('_', ' ');
  return spoken.charAt(0).toUpperCase() + spoken.slice(1);
};
