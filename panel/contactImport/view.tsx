import type { Column } from '../../api/contacts/import.ts';
import type { ContactImport, FailedRow, ImportRow } from '../../db/contacts/imports.ts';
import { rowsDone, TABLE_MAX } from '../../operations/addressBook/imports.ts';
import { type Fault, sentenceOf } from '../ask.ts';
import { count, type Language } from '../language.ts';
import { Act, Field, Figure, Hidden, Select, Summary, Table } from '../parts.tsx';
import { blamedColumn, type Choice, COLUMNS_MAX } from './columns.ts';
import { words } from './words.ts';

const PATH = '/panel/contacts/import';
const MEGABYTE = 1024 * 1024;
/** Bytes of a file: 100,000 lines of 100 letters. */
export const UPLOAD_MAX = 10 * MEGABYTE;
const CELL_SHOWN = 80;

const shortened = (cell: string): string =>
  cell.length > CELL_SHOWN ? `${cell.slice(0, CELL_SHOWN)}…` : cell;

interface UploadProps {
  language: Language;
  fault: Fault | null;
}

export function UploadForm({ language, fault }: UploadProps) {
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{words[language].lead}</p>
      <FileForm language={language} fault={fault} />
      <Back language={language} />
    </>
  );
}

function FileForm({ language, fault }: UploadProps) {
  const say = words[language];
  const hint = say.fileHint(count(language, TABLE_MAX), COLUMNS_MAX, UPLOAD_MAX / MEGABYTE);
  return (
    <form method="post" action={PATH} encType="multipart/form-data" class="stack">
      <Field
        {...{ name: 'file', label: say.file, hint, fault }}
        type="file"
        accept=".csv,.txt,text/csv"
        required
      />
      <button>{say.upload}</button>
    </form>
  );
}

function Back({ language }: { language: Language }) {
  return (
    <p>
      <a href="/panel/contacts">{words[language].back}</a>
    </p>
  );
}

function headingOf(language: Language, { header }: ContactImport, index: number): string {
  return shortened(header?.[index] ?? '') || words[language].column(index + 1);
}

interface MatchProps {
  language: Language;
  table: ContactImport;
  /** The first ones. */
  rows: readonly ImportRow[];
  choices: readonly Choice[];
  fault: Fault | null;
}

/** Asks what each column of a table holds. */
export function Match({ language, table, rows, choices, fault }: MatchProps) {
  const say = words[language];
  const headings = choices.map((_, index) => headingOf(language, table, index));
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.of(table.name, count(language, table.lines))}</p>
      <h2>{say.preview}</h2>
      <Table label={say.preview} columns={headings}>
        {rows.map(({ cells }) => (
          <tr>
            {headings.map((_, index) => (
              <td>{shortened(cells[index] ?? '')}</td>
            ))}
          </tr>
        ))}
      </Table>
      <section>
        <h2>{say.match}</h2>
        <p>{say.matchLead}</p>
        <form method="post" action={`${PATH}/columns`} class="stack" noValidate>
          <Hidden fields={{ import: table.id }} />
          {choices.map(({ what, key }, index) => (
            <fieldset class="pair">
              <legend>{headings[index]}</legend>
              <Select
                {...{ name: `column-${index}`, label: say.what, fault }}
                options={say.whats}
                value={what}
              />
              <Field name={`key-${index}`} label={say.key} value={key} />
            </fieldset>
          ))}
          <button>{say.import}</button>
        </form>
      </section>
      <section>
        <h2>{say.another}</h2>
        <FileForm language={language} fault={null} />
      </section>
      <Back language={language} />
    </>
  );
}

interface ImportProps {
  language: Language;
  table: ContactImport;
  columns: readonly Column[];
  /** The first ones. */
  failed: readonly FailedRow[];
  fault: Fault | null;
}

/** How far the import is; in the end, what became of it. */
export function Import({ language, table, columns, failed, fault }: ImportProps) {
  const say = words[language];
  const done = rowsDone(table);
  const { lines } = table;
  return (
    <>
      <div id="import">
        <Summary language={language} fault={fault} />
        <p>{say.of(table.name, count(language, lines))}</p>
        <dl class="figures">
          <Figure name={say.created} value={count(language, table.created)} />
          <Figure name={say.updated} value={count(language, table.updated)} />
          <Figure name={say.failed} value={count(language, table.failed)} />
        </dl>
        {done < lines ? (
          <Progress {...{ language, table, fault }} />
        ) : (
          <p class="notice" role="status">
            {say.over}
          </p>
        )}
        {failed.length === 0 ? null : <Failed {...{ language, table, columns, failed }} />}
        {done < lines ? (
          <Act
            name={table.name}
            open={say.discard}
            text={say.discardText}
            act={say.discardNow}
            to={`${PATH}/discard`}
            fields={{ import: table.id }}
          />
        ) : (
          <section>
            <h2>{say.another}</h2>
            <FileForm language={language} fault={fault} />
          </section>
        )}
      </div>
      <Back language={language} />
    </>
  );
}

/** Goes on by itself where JavaScript runs, until something is wrong. */
function Progress({ language, table, fault }: Pick<ImportProps, 'language' | 'table' | 'fault'>) {
  const say = words[language];
  const done = rowsDone(table);
  const path = `${PATH}/continue`;
  return (
    <form
      method="post"
      action={path}
      class="stack"
      hx-post={path}
      hx-trigger={fault === null ? 'load, submit' : 'submit'}
      hx-target="#import"
      hx-select="#import"
      hx-swap="outerHTML"
    >
      <p role="status">{say.done(count(language, done), count(language, table.lines))}</p>
      <progress aria-label={say.progress} max={table.lines} value={done}></progress>
      <p class="hint">{say.keepOpen}</p>
      <button>{say.goOn}</button>
    </form>
  );
}

function Failed({ language, table, columns, failed }: Omit<ImportProps, 'fault'>) {
  const say = words[language];
  return (
    <section>
      <h2>{say.failedHeading}</h2>
      <p>
        {say.failedLead}{' '}
        {failed.length < table.failed ? say.failedFirst(count(language, failed.length)) : null}
      </p>
      <p>
        <a href={`${PATH}/refused`}>{say.download}</a>
      </p>
      <Table label={say.failedHeading} columns={say.failedColumns}>
        {failed.map((row) => {
          const index = blamedColumn(row, columns);
          return (
            <tr>
              <th scope="row">{row.line}</th>
              <td>{index < 0 ? '–' : headingOf(language, table, index)}</td>
              <td>{index < 0 ? '–' : shortened(row.cells[index] ?? '')}</td>
              <td>{sentenceOf(language, row.problem.refusal)}</td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}
