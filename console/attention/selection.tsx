import { ATTENTION } from '../../commands/attention.ts';
import type { BulkAction } from '../../db/maintenance/bulks.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { AttentionKind } from '../../operations/support/attention.ts';
import { STUCK_ACTIONS } from '../../operations/support/stuck.ts';
import { Hidden, Table } from '../../panel/parts.tsx';
import { commandPath, mayAsk, OFFERS } from '../commands/offered.ts';
import { Value, words } from '../commands/result.tsx';

type Row = Readonly<Record<string, unknown>>;

/** Acts that a bulk carries out: its action, and what its button says. */
const BULK: Readonly<Record<string, readonly [BulkAction, string]>> = {
  'messages cancel': ['cancel', 'Cancel'],
  'messages resubmit': ['resubmit', 'Submit again'],
  'messages give-up': ['give-up', 'Give up'],
  'webhooks resend': ['resend', 'Deliver again'],
  'findings dismiss': ['dismiss', 'Dismiss'],
};

interface SelectionProps {
  role: StaffRole;
  kind: AttentionKind;
  rows: readonly Row[];
  /** The filters. */
  typed: Readonly<Record<string, string>>;
  /** How many match. */
  total: string;
}

/** The rows of a list, with what can be done about each, and about many at once. */
export function Selection({ role, kind, rows, typed, total }: SelectionProps) {
  const { command, options } = ATTENTION[kind];
  const acts = ATTENTION[kind].acts.filter((act) => mayAsk(role, act));
  const isFinding = command === 'findings list';
  // Rows of findings are no messages or events.
  const bulk = acts.filter((act) => (isFinding ? act === 'findings dismiss' : act in BULK));
  const actions = mayAsk(role, 'bulks start') ? bulk.map((act) => BULK[act]!) : [];
  const columns = Object.keys(rows[0]!).filter((name) => !(name in options));
  const single = acts.filter((act) => !bulk.includes(act));
  const table = (
    <Table
      label={words(kind)}
      columns={[
        ...(actions.length === 0 ? [] : ['Select']),
        ...columns.map(words),
        ...(single.length === 0 ? [] : ['Acts']),
      ]}
    >
      {rows.map((row) => (
        <tr>
          {actions.length === 0 ? null : (
            <td>
              <input type="checkbox" name={String(row['id'])} aria-label={`Select ${String(row['id'])}`} />
            </td>
          )}
          {columns.map((name) => (
            <td>
              <Value name={name} value={row[name]} />
            </td>
          ))}
          {single.length === 0 ? null : (
            <td>
              {single.map((act) => (
                <p>
                  <a href={commandPath(act, valuesOf(act, row))}>
                    {act}
                    <span class="visually-hidden"> {String(row['id'] ?? row['word'] ?? row['subject'])}</span>
                  </a>
                </p>
              ))}
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
  if (actions.length === 0) return table;
  return (
    <form method="post" action="/console/bulks/new">
      {table}
      {actions.every(([action]) => actsOnAll(action, kind)) ? (
        <label class="choice">
          <input type="checkbox" name="all" value="yes" />
          <span>All that match ({total}), not only those that are ticked</span>
        </label>
      ) : null}
      <Hidden fields={{ ...typed, ...(isFinding ? { kind } : {}) }} />
      <p>
        {actions.map(([action, label]) => (
          <>
            <button name="action" value={action}>
              {label}
            </button>{' '}
          </>
        ))}
        <span class="hint">What it would do is shown first.</span>
      </p>
    </form>
  );
}

/** Whether an action without ids finds what this list shows. */
const actsOnAll = (action: BulkAction, kind: AttentionKind): boolean =>
  action === 'dismiss' || STUCK_ACTIONS[action] === kind;

/** The arguments of an act that a row says: its account and word, and what it is about. */
function valuesOf(act: string, row: Row): Record<string, string> {
  const id = act === 'findings dismiss' ? row['id'] : (row['subject'] ?? row['id']);
  const known: Row = { id, request: id, payment: id, account: row['account_id'], word: row['word'] };
  const named = Object.keys(OFFERS.get(act)!.command.options).flatMap((name) =>
    typeof known[name] === 'string' ? [[name, known[name]] as const] : [],
  );
  return Object.fromEntries(named);
}
