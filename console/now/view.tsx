import type { TrafficMinute, Waiting } from '../../db/messages/traffic.ts';
import { printable } from '../../commands/output.ts';
import { polishTime } from '../../domain/calendar.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { Alerts, AlertState } from '../../operations/support/alerts.ts';
import type { WakeHour } from '../../operations/support/now.ts';
import { Bars } from '../../panel/chart.tsx';
import { count, moment } from '../../panel/language.ts';
import { Facts, Table } from '../../panel/parts.tsx';
import { commandPath, mayAsk } from '../commands/offered.ts';

const number = (of: number | null): string => (of === null ? '–' : count('en', of));
const clock = (at: Date): string => polishTime(at.getTime()).time;

const WAITING: Readonly<Record<Waiting['what'], string>> = {
  not_started: 'Accepted, workflow not started',
  overdue: 'Scheduled, past the send time',
  queued: 'Queued for a route',
  unanswered: 'Submitted without an answer',
  email_queued: 'E-mails queued',
  webhook: 'Webhook events of the last hour, not delivered yet',
};

/** What waits now, and how long the oldest has. */
export function WaitingNow({ waiting, role }: { waiting: readonly Waiting[]; role: StaffRole }) {
  const listed = (what: Waiting['what']) => what !== 'not_started' && mayAsk(role, 'stuck');
  return (
    <section>
      <h2>Waiting</h2>
      <Table label="Waiting" columns={['What', 'How many', 'Oldest since', 'Age']}>
        {waiting.map(({ what, count: many, since }) => (
          <tr>
            <th scope="row">
              {listed(what) ? (
                <a href={commandPath('stuck', { kind: what, minutes: '0', show: 'yes' })}>{WAITING[what]}</a>
              ) : (
                WAITING[what]
              )}
            </th>
            <td>{number(many)}</td>
            <td>{since === null ? '–' : moment('en', since)}</td>
            <td>{since === null ? '–' : age(since)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function age(since: Date): string {
  const seconds = Math.max(0, Math.round((Date.now() - since.getTime()) / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

interface Chart {
  title: string;
  unit: string;
  value: (minute: TrafficMinute) => number;
  failed?: (minute: TrafficMinute) => number;
}

const CHARTS: readonly Chart[] = [
  { title: 'Accepted', unit: 'parts', value: ({ accepted }) => accepted },
  { title: 'Submitted', unit: 'parts', value: ({ submitted }) => submitted },
  {
    ...{ title: 'Delivered, and in red failed', unit: 'parts' },
    value: ({ delivered, failed }) => delivered + failed,
    failed: ({ failed }) => failed,
  },
  {
    ...{ title: 'Longest from send time to submit', unit: 's' },
    value: ({ waitSeconds }) => Math.round(waitSeconds ?? 0),
  },
  {
    ...{ title: 'Webhook attempts, and in red failed', unit: 'attempts' },
    value: ({ webhookAttempts }) => webhookAttempts,
    failed: ({ webhookFailures }) => webhookFailures,
  },
  {
    ...{ title: 'Longest from event to webhook', unit: 's' },
    value: ({ webhookLagSeconds }) => Math.round(webhookLagSeconds ?? 0),
  },
];

/** The last hour by the minute, as charts and as a table. */
export function Minutes({ minutes }: { minutes: readonly TrafficMinute[] }) {
  return (
    <section>
      <h2>The last hour</h2>
      <div class="charts">
        {CHARTS.map((chart) => (
          <ByMinute {...{ ...chart, minutes }} />
        ))}
      </div>
      <details>
        <summary>The same as a table</summary>
        <Table
          label="The last hour"
          columns={[
            ...['Minute', 'Accepted', 'Submitted', 'Delivered', 'Failed', 'Longest to submit, s'],
            ...['Webhook attempts', 'Of them failed', 'Longest to webhook, s'],
          ]}
        >
          {minutes.toReversed().map((one) => (
            <tr>
              <th scope="row">{clock(one.minute)}</th>
              <td>{number(one.accepted)}</td>
              <td>{number(one.submitted)}</td>
              <td>{number(one.delivered)}</td>
              <td>{number(one.failed)}</td>
              <td>{number(one.waitSeconds)}</td>
              <td>{number(one.webhookAttempts)}</td>
              <td>{number(one.webhookFailures)}</td>
              <td>{number(one.webhookLagSeconds)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </section>
  );
}

function ByMinute({ title, unit, value, failed, minutes }: Chart & { minutes: readonly TrafficMinute[] }) {
  const bars = minutes.map((one) => ({
    name: clock(one.minute),
    value: value(one),
    failed: failed?.(one) ?? 0,
    text: `${number(value(one))} ${unit}${failed === undefined ? '' : `, ${number(failed(one))} failed`}`,
  }));
  const most = Math.max(...bars.map((bar) => bar.value));
  return (
    <figure class="chart">
      <Bars label={`${title}, by the minute`} bars={bars} />
      <figcaption>
        {title}: at most {number(most)} {unit}
      </figcaption>
    </figure>
  );
}

/** What wakes in 24 hours, and where a route cannot keep up with it. */
export function Waking({ waking }: { waking: readonly WakeHour[] }) {
  const routes = [...new Set(waking.map(({ route }) => route))];
  if (routes.length === 0)
    return (
      <section>
        <h2>Wakes in 24 hours</h2>
        <p>Nothing is scheduled.</p>
      </section>
    );
  return (
    <section>
      <h2>Wakes in 24 hours</h2>
      <Facts
        rows={routes.map((route) => [route, inADay(waking.filter((hour) => hour.route === route))] as const)}
      />
      <details>
        <summary>By the hour</summary>
        <Table
          label="Wakes in 24 hours"
          columns={['Route', 'Hour from', 'Messages', 'Parts', 'Parts left after it']}
        >
          {waking.map(({ route, from, messages, parts, behind }) => (
            <tr>
              <th scope="row">
                <a href={`/console/routes/${route}`}>{route}</a>
              </th>
              <td>{clock(from)}</td>
              <td>{number(messages)}</td>
              <td>{number(parts)}</td>
              <td>{behind === null ? 'no limit' : number(behind)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </section>
  );
}

function inADay(hours: readonly WakeHour[]) {
  const parts = hours.reduce((sum, hour) => sum + hour.parts, 0);
  const late = hours.filter(({ behind }) => (behind ?? 0) > 0);
  const left = Math.max(...late.map(({ behind }) => behind ?? 0));
  return (
    <>
      {number(parts)} parts{' '}
      {late.length === 0 ? null : (
        <span class="badge bad">
          its rate does not keep up in {number(late.length)} hours, {number(left)} parts wait then
        </span>
      )}
    </>
  );
}

/** What fires or is about to, and rules that fail. @param alerts null: there is no Prometheus to ask */
export function AlertStates({ alerts: read }: { alerts: Alerts | null }) {
  return (
    <section>
      <h2>Alerts</h2>
      {read === null ? (
        <p>Set PROMETHEUS_URL to see the state of the alert rules here.</p>
      ) : 'problem' in read ? (
        <p class="notice">Prometheus could not be asked ({read.problem}).</p>
      ) : (
        <Rules alerts={read.alerts} />
      )}
    </section>
  );
}

function Rules({ alerts }: { alerts: readonly AlertState[] }) {
  const isQuiet = ({ state, health }: AlertState) => state === 'inactive' && health !== 'err';
  const quiet = alerts.filter(isQuiet);
  const loud = alerts.filter((alert) => !isQuiet(alert));
  return (
    <>
      {loud.length === 0 ? null : (
        <Table label="Alerts" columns={['Alert', 'State', 'Severity', 'Since', 'What']}>
          {loud.map(({ name, state, severity, since, summary, health }) => (
            <tr>
              <th scope="row">{printable(name)}</th>
              <td>
                <span class={state === 'pending' ? 'badge' : 'badge bad'}>
                  {state === 'inactive' ? `rule: ${printable(health)}` : state}
                </span>
              </td>
              <td>{printable(severity)}</td>
              <td>{since === null ? '–' : moment('en', since)}</td>
              <td class="text">{printable(summary)}</td>
            </tr>
          ))}
        </Table>
      )}
      <details>
        <summary>{number(quiet.length)} rules are quiet</summary>
        <p>{quiet.map(({ name }) => printable(name)).join(', ')}</p>
      </details>
    </>
  );
}
