import { printable } from '../../commands/output.ts';
import { dayRecord, usedPercent } from '../../commands/routeReport.ts';
import { ruleRecord } from '../../commands/routeRules.ts';
import { health } from '../../commands/routes.ts';
import type { RouteDay } from '../../db/routes/routeReport.ts';
import type { RouteOverview } from '../../db/routes/routeOverview.ts';
import type { RouteState, StoredRule } from '../../db/routes/routes.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { routeReport } from '../../operations/routes/report.ts';
import { count, moment } from '../../panel/language.ts';
import { Facts, Field, Hidden, Table } from '../../panel/parts.tsx';
import { commandPath, mayAsk } from '../commands/offered.ts';

const number = (of: number | null): string => (of === null ? '–' : count('en', of));
const time = (at: Date | null): string => (at === null ? 'never' : moment('en', at));
const perSecond = (rate: number | null): string => (rate === null ? 'no limit' : `${number(rate)} parts/s`);

/** The routes and how they are. */
export function RouteList({ routes }: { routes: readonly RouteOverview[] }) {
  return (
    <Table
      label="Routes"
      columns={[
        ...['Route', 'Kind', 'State', 'Sessions', 'Window used', 'Rate allowed', 'Queue', 'Unanswered'],
        'Last error',
      ]}
    >
      {routes.map((route) => {
        const { sessions, sessionsWanted, window, inFlight, lastErrorAt } = health(route);
        return (
          <tr>
            <th scope="row">
              <a href={`/console/routes/${route.name}`}>{route.name}</a>
            </th>
            <td>{route.kind}</td>
            <td>
              <Works route={route} />
            </td>
            <td>
              {number(sessions)} of {number(sessionsWanted)}
            </td>
            <td>
              {number(inFlight)} of {number(window)}
            </td>
            <td>{perSecond(route.ratePerSecond)}</td>
            <td>{number(route.queue)}</td>
            <td>{number(route.unanswered)}</td>
            <td>{time(lastErrorAt)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

function Works({ route: { state, working } }: { route: RouteOverview }) {
  return (
    <>
      <span class={state === 'active' ? 'badge' : 'badge bad'}>{state}</span>{' '}
      {state === 'disabled' || working ? null : <span class="badge bad">not working</span>}
    </>
  );
}

/** A route as its workers report it. */
export function State({ route }: { route: RouteOverview }) {
  const { sessions, sessionsWanted, window, inFlight, workersSeen, lastError, lastErrorAt } = health(route);
  return (
    <Facts
      rows={[
        ['Kind', route.kind],
        ['State', <Works route={route} />],
        ['Sessions', `${number(sessions)} of ${number(sessionsWanted)}, on ${number(workersSeen)} workers`],
        ['Window used', `${number(inFlight)} of ${number(window)}`],
        ['Queue', `${number(route.queue)} wait, ${number(route.unanswered)} have no answer`],
        ['Last success', time(route.workingAt)],
        ['Last report', time(route.reportedAt)],
        ['Last reply', time(route.repliedAt)],
        ['Last error', lastError === null ? null : `${time(lastErrorAt)}: ${printable(lastError)}`],
      ]}
    />
  );
}

/** What may be done with a route: forms of commands. */
export function Acts({ name, state, role }: { name: string; state: RouteState; role: StaffRole }) {
  const acts = [
    ['Test', 'routes test', { name }],
    ...(state === 'active' ? [] : [['Enable', 'routes enable', { name }] as const]),
    ...(state === 'active' ? [['Drain', 'routes drain', { name }] as const] : []),
    ...(state === 'disabled' ? [] : [['Disable', 'routes disable', { name }] as const]),
    ['Change', 'routes change', { name }],
    ['Add a rule', 'routes rules add', { route: name }],
    ['What is stuck on it', 'stuck', { route: name, show: 'yes' }],
  ] as const;
  return (
    <ul class="rows links">
      {acts
        .filter(([, command]) => mayAsk(role, command))
        .map(([text, command, values]) => (
          <li>
            <a href={commandPath(command, values)}>{text}</a>
          </li>
        ))}
    </ul>
  );
}

/** Deliveries against a week before, and errors. @param report null: it took too long */
export function Report({ report }: { report: Awaited<ReturnType<typeof routeReport>> | null }) {
  if (report === null) return <p class="notice">The report took too long.</p>;
  const { lastMinute, ratePerSecond, today, weekBefore, errors } = report;
  const used = usedPercent(lastMinute, ratePerSecond);
  return (
    <>
      <section>
        <h2>Deliveries</h2>
        <p>
          {number(lastMinute)} parts in the last minute
          {used === null ? ', without a limit' : `: ${number(used)} % of ${perSecond(ratePerSecond)}`}.
        </p>
        <Table
          label="Deliveries"
          columns={['Hours', 'Taken', 'Delivered', 'Share', 'Median time', '95 % within']}
        >
          <Day name="Last 24 hours" day={today} />
          <Day name="The same a week before" day={weekBefore} />
        </Table>
      </section>
      <section>
        <h2>Errors of the last 24 hours</h2>
        {errors.length === 0 ? (
          <p>None.</p>
        ) : (
          <Table label="Errors" columns={['At', 'Outcome', 'Code', 'Meaning', 'How many', 'Last']}>
            {errors.map(({ at, outcome, code, meaning, count: many, lastAt }) => (
              <tr>
                <td>{at}</td>
                <td>{outcome}</td>
                <td>{code === null ? '–' : <code>{printable(code)}</code>}</td>
                <td class="text">{meaning === null ? '–' : printable(meaning)}</td>
                <td>{number(many)}</td>
                <td>{time(lastAt)}</td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </>
  );
}

function Day({ name, day }: { name: string; day: RouteDay }) {
  const { submitted, delivered, deliveredPercent, medianSeconds, p95Seconds } = dayRecord(day);
  const seconds = (of: number | null) => (of === null ? '–' : `${number(of)} s`);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{number(submitted)}</td>
      <td>{number(delivered)}</td>
      <td>{deliveredPercent === null ? '–' : `${number(deliveredPercent)} %`}</td>
      <td>{seconds(medianSeconds)}</td>
      <td>{seconds(p95Seconds)}</td>
    </tr>
  );
}

/** Each worker's sessions. */
export function Workers({ workers }: { workers: RouteOverview['workers'] }) {
  return (
    <section>
      <h2>Workers</h2>
      {workers.length === 0 ? (
        <p>No worker has reported in the last seconds.</p>
      ) : (
        <Table
          label="Workers"
          columns={[
            ...['Worker', 'Sessions', 'Window used', 'Submitted', 'Throttled', 'Refused', 'Held'],
            ...['Unanswered', 'Lost connections', 'Last error'],
          ]}
        >
          {workers.map((worker) => (
            <tr>
              <th scope="row">{worker.worker}</th>
              <td>
                {number(worker.sessions)} of {number(worker.sessionsWanted)}
              </td>
              <td>
                {number(worker.inFlight)} of {number(worker.window)}
              </td>
              <td>{number(worker.submitted)}</td>
              <td>{number(worker.throttled)}</td>
              <td>{number(worker.refused)}</td>
              <td>{number(worker.held)}</td>
              <td>{number(worker.unanswered)}</td>
              <td>{number(worker.failures)}</td>
              <td class="text">{worker.lastError === null ? '–' : printable(worker.lastError)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** Asks which rules a number would be sent by. */
export function Which({ role }: { role: StaffRole }) {
  if (!mayAsk(role, 'routes which')) return null;
  return (
    <form class="filters" action={commandPath('routes which')}>
      <Field name="to" label="Which route would a number take?" inputMode="tel" required maxLength={30} />
      <Hidden fields={{ show: 'yes' }} />
      <button class="second">Show</button>
    </form>
  );
}

/** Rules, as they stand. */
export function Rules({ rules, role }: { rules: readonly StoredRule[]; role: StaffRole }) {
  const removes = mayAsk(role, 'routes rules remove');
  return (
    <section>
      <h2>Rules</h2>
      {rules.length === 0 ? (
        <p>None: it takes no new messages.</p>
      ) : (
        <Table
          label="Rules"
          columns={[
            ...['Rule', 'Route', 'Numbers', 'Account', 'Type', 'Priority', 'Weight'],
            ...(removes ? ['Act'] : []),
          ]}
        >
          {rules.map(ruleRecord).map(({ id, route, prefix, accountId, type, priority, weight }) => (
            <tr>
              <th scope="row">{id}</th>
              <td>
                <a href={`/console/routes/${route}`}>{route}</a>
              </td>
              <td>{prefix === 'all' ? 'all' : `+${prefix}…`}</td>
              <td>
                {accountId === null ? 'all' : <a href={`/console/accounts/${accountId}`}>{accountId}</a>}
              </td>
              <td>{type ?? 'all'}</td>
              <td>{priority === null ? 'all' : priority ? 'yes' : 'no'}</td>
              <td>{number(weight)}</td>
              {removes ? (
                <td>
                  <a href={commandPath('routes rules remove', { rule: String(id) })}>
                    Remove<span class="visually-hidden"> rule {id}</span>
                  </a>
                </td>
              ) : null}
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
