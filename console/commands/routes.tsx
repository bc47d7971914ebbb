import { type AnyCommand, execute, NOTHING_DONE, readArguments, type Shown } from '../../commands/command.ts';
import { refused } from '../../commands/errors.ts';
import { movedLately, noteMoved, takeOnce } from '../../db/people/staff.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { askApproval } from '../../operations/people/approvals.ts';
import { newSecret } from '../../operations/people/signIn.ts';
import { NoDryRunError } from '../../operations/staff.ts';
import type { Fault } from '../../panel/ask.ts';
import { Hidden, Summary } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { mayReveal, NO_REASON, Reveal, ReasonField, reasonIn } from '../reason.tsx';
import { askerOf, staffPage, type StaffVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { faultOf, Fields, revealing, typedIn, YES } from './form.tsx';
import { commandPath, groszeMoved, offered, OFFERS } from './offered.ts';
import { Id, Result } from './result.tsx';

type Typed = Readonly<Record<string, string>>;

function listPage({ staff }: StaffVisit): Answer {
  const own = [...OFFERS.values()].filter(({ roles }) => roles.includes(staff.role));
  const groups = new Map<string, AnyCommand[]>();
  for (const { command } of own) {
    const group = command.name.split(' ')[0]!;
    groups.set(group, [...(groups.get(group) ?? []), command]);
  }
  const view = (
    <>
      <p>What your role may ask for. The same commands are there on the command line.</p>
      {[...groups.values()].map((commands) => (
        <ul class="rows">
          {commands.map(({ name, about }) => (
            <li>
              <a href={commandPath(name)}>{name}</a>: {about}
            </li>
          ))}
        </ul>
      ))}
    </>
  );
  return { status: 200, title: 'Commands', view };
}

interface FormState {
  typed: Typed;
  fault?: Fault | null;
  shown?: Shown | null;
}

/** A command's form; of one that reads, with what it answers. */
function formPage(
  { staff }: StaffVisit,
  command: AnyCommand,
  { typed, fault = null, shown = null }: FormState,
): Answer {
  const reads = !('ask' in command);
  const path = commandPath(command.name);
  const view = (
    <>
      <Summary language="en" fault={fault} />
      <p>{command.about}</p>
      <form method={reads ? 'get' : 'post'} action={path} class="stack" noValidate>
        <Fields {...{ command, typed, fault }} />
        {reads ? <Hidden fields={{ show: YES }} /> : null}
        <button>{reads ? 'Show' : 'Continue'}</button>
      </form>
      {typed['account'] === undefined ? null : (
        <p>
          About the account <Id id={typed['account']} />.
        </p>
      )}
      {revealing(command) === undefined ? null : (
        <Reveal role={staff.role} to={path} what="everything in full" fields={typed} fault={fault} />
      )}
      {shown === null ? null : <Result shown={shown} />}
    </>
  );
  return { status: fault === null ? 200 : 422, title: command.name, view };
}

/** What a command would do, and why it shall. */
function confirmPage(
  command: AnyCommand,
  { typed, fault, shown, isTried }: Required<FormState> & Rehearsed,
  second: boolean,
): Answer {
  const view = (
    <>
      <Summary language="en" fault={fault} />
      <p>{command.about}</p>
      <Told {...{ shown, isTried }} />
      <form method="post" action={commandPath(command.name)} class="stack" noValidate>
        <ReasonField fault={fault} />
        <Hidden fields={{ ...typed, confirmed: YES, once: newSecret() }} />
        <button class="danger">{second ? 'Ask a second person' : 'Do it'}</button>
      </form>
      <p>
        <a href={commandPath(command.name, typed)}>Change it</a>
      </p>
    </>
  );
  return { status: fault === null ? 200 : 422, title: command.name, view };
}

interface Rehearsed {
  /** Null: nothing can be told. */
  shown: Shown | null;
  /** Whether it was tried: otherwise it is what the command concerns. */
  isTried: boolean;
}

/** What a command would do. */
export async function rehearse(
  visit: StaffVisit,
  command: AnyCommand,
  values: Record<string, unknown>,
): Promise<Rehearsed> {
  const unagreed = YES in command.options ? { [YES]: false } : {};
  try {
    const shown = await ask(visit, command, { ...values, ...unagreed }, { dryRun: true });
    return { shown, isTried: true };
  } catch (error) {
    if (!(error instanceof NoDryRunError)) throw error;
    const told = 'ask' in command ? await command.before?.(visit.services.sql, values) : null;
    return { shown: told ?? null, isTried: false };
  }
}

export function Told({ shown, isTried }: Rehearsed) {
  // The button says it.
  const remarks = shown?.remarks?.filter((remark) => remark !== NOTHING_DONE) ?? [];
  return (
    <section>
      <h2>What it {isTried ? 'would do' : 'concerns'}</h2>
      {isTried ? null : <p class="notice">It cannot be tried beforehand: it acts outside the database.</p>}
      {shown === null ? null : <Result shown={{ ...shown, remarks }} />}
    </section>
  );
}

function ask(
  visit: StaffVisit,
  command: AnyCommand,
  values: Record<string, unknown>,
  how: { dryRun?: boolean; grounds?: { reason: string } } = {},
): Promise<Shown> {
  visit.acquireHeavySlot();
  return execute(visit.services.sql, { ...askerOf(visit), ...how }, command, values, visit.settings.tools);
}

async function get(visit: StaffVisit, command: AnyCommand): Promise<Answer> {
  const { query } = visit;
  const typed = typedIn(command, query);
  if ('ask' in command || !query.has('show')) return formPage(visit, command, { typed });
  try {
    const shown = await ask(visit, command, readArguments(command, typed));
    return formPage(visit, command, { typed, shown });
  } catch (error) {
    return formPage(visit, command, { typed, fault: faultOf(command, error) });
  }
}

/** Asks for a command by what is in the form: shows what it would do, and with a reason does it. */
export async function post(visit: StaffVisit, command: AnyCommand): Promise<Answer> {
  if (!('ask' in command)) return await reveal(visit, command);
  const { form, services, settings, staff } = visit;
  const typed = typedIn(command, form);
  try {
    const values = readArguments(command, typed);
    const limit = settings.secondPersonGrosze;
    const reason = reasonIn(visit);
    if (!form.has('confirmed') || reason === null) {
      const told = await rehearse(visit, command, values);
      const moved = await groszeMoved(command.name, values, () => Promise.resolve(told.shown));
      const second = moved > 0 && moved + (await movedLately(services.sql, staff.id)) > limit;
      const fault = form.has('confirmed') ? NO_REASON : null;
      return confirmPage(command, { typed, fault, ...told }, second);
    }
    const tell = async () => (await rehearse(visit, command, values)).shown;
    const moved = await groszeMoved(command.name, values, tell);
    // Against a second click, and a page of what was done that is loaded again.
    const once = form.get('once');
    if (once !== undefined && !(await takeOnce(services.sql, once)))
      throw refused('This form was sent already: the audit log has what came of it.');
    if (moved > limit || (moved > 0 && !(await noteMoved(services.sql, staff.id, moved, limit)))) {
      await askApproval(services.sql, { command: command.name, typed, reason, askedBy: staff.name });
      return { to: '/console/approvals' };
    }
    const agreed = YES in command.options ? { [YES]: true } : {};
    const shown = await ask(visit, command, { ...values, ...agreed }, { grounds: { reason } });
    return donePage(command, shown);
  } catch (error) {
    return formPage(visit, command, { typed, fault: faultOf(command, error) });
  }
}

/** What a command has done. */
export function donePage({ name }: AnyCommand, shown: Shown): Answer {
  const view = (
    <>
      <p class="notice">Done.</p>
      <Result shown={shown} />
    </>
  );
  return { status: 200, title: name, view };
}

/** What a command that reads answers in full, to who says why. */
async function reveal(visit: StaffVisit, command: AnyCommand): Promise<Answer> {
  const name = revealing(command);
  if (name === undefined) return problemPage(404);
  if (!mayReveal(visit.staff.role)) return problemPage(403);
  const typed = typedIn(command, visit.form);
  const reason = reasonIn(visit);
  if (reason === null) return formPage(visit, command, { typed, fault: NO_REASON });
  try {
    const values = { ...readArguments(command, typed), [name]: true };
    const shown = await ask(visit, command, values, { grounds: { reason } });
    return formPage(visit, command, { typed, shown });
  } catch (error) {
    return formPage(visit, command, { typed, fault: faultOf(command, error) });
  }
}

function withCommand(handle: (visit: StaffVisit, command: AnyCommand) => Promise<Answer>) {
  return (visit: StaffVisit): Answer | Promise<Answer> => {
    const command = offered(visit.staff.role, (visit.params['name'] ?? '').replaceAll('.', ' '));
    return command === undefined ? problemPage(404) : handle(visit, command);
  };
}

export const commandRoutes = [
  staffPage('/console/commands', STAFF_ROLES, { get: listPage }),
  staffPage('/console/commands/:name', STAFF_ROLES, { get: withCommand(get), post: withCommand(post) }),
];
