import { ATTENTION, countInWords } from '../../commands/attention.ts';
import { type AnyCommand, execute, readArguments, type Shown } from '../../commands/command.ts';
import { named } from '../../commands/output.ts';
import { type TemporalUi, temporalView, type TemporalView } from '../../domain/temporalViews.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import {
  type Attention,
  ATTENTION_KINDS,
  type AttentionKind,
  readAttention,
} from '../../operations/support/attention.ts';
import type { Fault } from '../../panel/ask.ts';
import { Filters } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { faultOf, Fields, revealing, typedIn } from '../commands/form.tsx';
import { commandPath, OFFERS } from '../commands/offered.ts';
import { words } from '../commands/result.tsx';
import { Reveal } from '../reason.tsx';
import { askerOf, staffPage, type StaffVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { InTemporal } from '../temporal.tsx';
import { Selection } from './selection.tsx';

const PATH = '/console/attention';
const now = () => ({ TIME: new Date().toISOString() });
// What the Temporal UI shows of a kind.
const VIEWS: Partial<Record<AttentionKind, readonly ((ui: TemporalUi) => TemporalView)[]>> = {
  overdue: [(ui) => temporalView(ui, 'overdue', now())],
  timer: [(ui) => temporalView(ui, 'overdue', now())],
  unanswered: [(ui) => temporalView(ui, 'unanswered', {})],
  no_report: [(ui) => temporalView(ui, 'noReport', now())],
  task: [(ui) => temporalView(ui, 'shortWork', now()), (ui) => temporalView(ui, 'endedBadly', {})],
  workflow_lost: [(ui) => temporalView(ui, 'endedBadly', {})],
  workflow_ended: [(ui) => temporalView(ui, 'cancelled', {}), (ui) => temporalView(ui, 'endedBadly', {})],
};
// A form has a field for each row.
const ROWS = 100;

/** What needs a person: how much of each kind, and for how long. */
async function front(visit: StaffVisit): Promise<Answer> {
  visit.acquireHeavySlot();
  const { services, settings } = visit;
  const found = await readAttention(services.sql, () => settings.tools.temporal());
  const [waiting, none] = [
    found.filter(({ count }) => count !== 0),
    found.filter(({ count }) => count === 0),
  ];
  const view = (
    <>
      {waiting.length === 0 ? <p>Nothing waits.</p> : null}
      <dl class="figures">
        {waiting.map((one) => (
          <Tile one={one} />
        ))}
      </dl>
      <section>
        <h2>None of these</h2>
        <p>
          {none.map(({ kind }, index) => (
            <>
              {index === 0 ? '' : ', '}
              <KindLink kind={kind} />
            </>
          ))}
        </p>
      </section>
    </>
  );
  return { status: 200, title: 'Needs a person', view };
}

function Tile({ one }: { one: Attention }) {
  return (
    <div>
      <dt>
        <KindLink kind={one.kind} />
      </dt>
      <dd>
        {countInWords(one)}
        {one.oldest === null ? null : <span class="hint"> oldest: {ageOf(one.oldest)}</span>}
        <p class="hint">{ATTENTION[one.kind].about}</p>
      </dd>
    </div>
  );
}

const KindLink = ({ kind }: { kind: AttentionKind }) => (
  <a href={`${PATH}/${kind}`} title={ATTENTION[kind].about}>
    {words(kind)}
  </a>
);

function ageOf(since: Date): string {
  const minutes = Math.max(0, Math.floor((Date.now() - since.getTime()) / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`;
}

/** One kind: what its command lists, with the command's filters. */
async function list(visit: StaffVisit): Promise<Answer> {
  const kind = ATTENTION_KINDS.find((one) => one === visit.params['kind']);
  if (kind === undefined) return problemPage(404);
  const { about, command: name, options: fixed } = ATTENTION[kind];
  const { command } = OFFERS.get(name)!;
  const filters = withFilters(command, [...Object.keys(fixed), 'limit', 'state']);
  const typed = typedIn(filters, visit.query);
  const { shown, fault } = await ask(visit, command, { ...typed, ...fixed, limit: String(ROWS) }, filters);
  const { data, ...result } = named(shown?.result ?? { data: [] });
  const rows = data as Record<string, unknown>[];
  const total = totalOf(result[kind], rows.length, shown?.remarks);
  const view = (
    <>
      <p>{about}</p>
      <Filters language="en" path={`${PATH}/${kind}`}>
        <Fields command={filters} typed={typed} fault={fault} />
      </Filters>
      <div id="results">
        {fault !== null ? <p role="alert">{fault.text}</p> : null}
        {shown?.remarks?.map((remark) => (remark === null ? null : <p class="notice">{remark}</p>))}
        <p>
          {total} in all{rows.length === ROWS ? `; the first ${ROWS} are shown` : ''}.
        </p>
        {rows.length === 0 || revealing(command) === undefined ? null : (
          <Reveal
            role={visit.staff.role}
            to={commandPath(name)}
            what="these in full"
            fault={null}
            fields={typed}
          />
        )}
        {rows.length === 0 ? null : (
          <Selection role={visit.staff.role} {...{ kind, rows, typed }} total={total} />
        )}
      </div>
      <InTemporal visit={visit} views={VIEWS[kind] ?? []} />
    </>
  );
  return { status: fault === null ? 200 : 422, title: words(kind), view };
}

// The command counts what is stuck, unless Temporal alone knows and does not answer.
function totalOf(counted: unknown, rows: number, remarks: Shown['remarks'] = []): string {
  if (typeof counted === 'number' || typeof counted === 'string') return String(counted);
  if (remarks.length > 0) return 'An unknown number';
  return rows < ROWS ? String(rows) : `${ROWS} or more`;
}

function withFilters(command: AnyCommand, without: readonly string[]): AnyCommand {
  const options = Object.entries(command.options).filter(([name]) => !without.includes(name));
  return { ...command, options: Object.fromEntries(options) };
}

async function ask(
  visit: StaffVisit,
  command: AnyCommand,
  typed: Readonly<Record<string, string>>,
  filters: AnyCommand,
): Promise<{ shown: Shown | null; fault: Fault | null }> {
  visit.acquireHeavySlot();
  const { services, settings } = visit;
  try {
    const values = readArguments(command, typed);
    return {
      shown: await execute(services.sql, askerOf(visit), command, values, settings.tools),
      fault: null,
    };
  } catch (error) {
    return { shown: null, fault: faultOf(filters, error) };
  }
}

export const attentionRoutes = [
  staffPage('/console', STAFF_ROLES, { get: front }),
  staffPage(`${PATH}/:kind`, STAFF_ROLES, { get: list }),
];
