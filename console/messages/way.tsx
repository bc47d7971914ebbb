import type { ComponentChildren } from 'preact';
import { printable } from '../../commands/output.ts';
import { actShown } from '../../commands/workflows.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { TimelineEntry } from '../../domain/timeline.ts';
import type { Followed, FollowedDelivery } from '../../operations/support/messageView.ts';
import type { WorkflowView } from '../../operations/support/workflow.ts';
import { moment, pln } from '../../panel/language.ts';
import { Facts, Table } from '../../panel/parts.tsx';
import { commandPath, mayAsk } from '../commands/offered.ts';
import { Id } from '../commands/result.tsx';

const time = (at: Date | null): ComponentChildren =>
  at === null ? null : (
    <time dateTime={at.toISOString()}>
      {moment('en', at)}:{at.toISOString().slice(17, 19)}
    </time>
  );

const WORDS: Readonly<Record<string, string>> = {
  'messages cancel': 'Cancel and refund',
  'messages resubmit': 'Submit again',
  'messages give-up': 'Give up and refund',
  'messages settle': 'Settle',
  'emails give-up': 'Give up and refund',
  'webhooks resend': 'Deliver again',
  erase: 'Erase the person’s data',
};

interface ActsProps extends Pick<Followed, 'acts'> {
  accountId: string;
  role: StaffRole;
}

/** What can be done: a link to the form of each command, or why not. */
export function Acts({ acts, accountId, role }: ActsProps) {
  return (
    <section>
      <h2>What can be done</h2>
      <ul class="rows">
        {acts.map((act) => {
          const { command, id, reason } = actShown(act);
          const name = WORDS[command] ?? command;
          const why = mayAsk(role, command) ? reason : 'Your role does not do this.';
          return (
            <li>
              {why === null ? (
                // Whose number or address it is, staff are told by who asks for it.
                <a href={commandPath(command, command === 'erase' ? { account: accountId } : { id })}>
                  {name}
                </a>
              ) : (
                <>
                  {name}: <span class="hint">not now. {why}</span>
                </>
              )}{' '}
              {command === 'webhooks resend' ? <Id id={id} /> : null}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface WorkflowProps extends Pick<Followed, 'workflow' | 'fault'> {
  /** In the Temporal UI; null: unknown. */
  url: string | null;
}

export function Workflow({ workflow, fault, url }: WorkflowProps) {
  const link = url === null ? null : <a href={url}>Open it in the Temporal UI</a>;
  return (
    <section>
      <h2>Workflow</h2>
      {fault !== null ? (
        <p class="notice">Temporal could not be asked ({printable(fault)}).</p>
      ) : workflow === null ? (
        <p>There is none: it was never started, or is past its retention.</p>
      ) : (
        <Facts rows={[...workflowFacts(workflow)]} />
      )}
      {link === null ? null : <p>{link}</p>}
    </section>
  );
}

function workflowFacts({ status, started, closed, waitsFor, taskAttempt, pending }: WorkflowView) {
  return [
    ['Status', status.toLowerCase()],
    ['Started', time(started)],
    ['Closed', time(closed)],
    ['Waits for', waitsFor === null ? null : printable(waitsFor)],
    ['Task attempt', taskAttempt === null ? null : String(taskAttempt)],
    ...pending.map(
      ({ activity, state, attempt, lastFailure }) =>
        [
          `Activity ${activity}`,
          `${state}, attempt ${attempt}${lastFailure === null ? '' : `: ${printable(lastFailure)}`}`,
        ] as const,
    ),
  ] as const;
}

/** What the database and what Temporal know, in one order. */
export function Timeline({ timeline }: Pick<Followed, 'timeline'>) {
  return (
    <section>
      <h2>Timeline</h2>
      <Table label="Timeline" columns={['When', 'Database', 'Temporal']}>
        {timeline.map((entry) => (
          <tr>
            <td>{time(entry.at)}</td>
            <td>{entry.kind === 'workflow' ? null : <Entry {...entry} />}</td>
            <td>{entry.kind === 'workflow' ? <Entry {...entry} /> : null}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Entry({ kind, facts }: TimelineEntry) {
  const known = Object.entries(facts).filter(([, value]) => value !== null);
  return (
    <>
      {kind === 'workflow' ? null : <b>{kind.replaceAll('_', ' ')}</b>}{' '}
      <span class="text">
        {known
          .map(([name, value]) =>
            typeof value === 'number' && name.endsWith('_grosze')
              ? pln('en', value)
              : `${name.replaceAll('_', ' ')} ${printable(String(value))}`,
          )
          .join(', ')}
      </span>
    </>
  );
}

/** Webhook events with their attempts. */
export function Deliveries({ deliveries }: Pick<Followed, 'deliveries'>) {
  if (deliveries.length === 0) return null;
  return (
    <section>
      <h2>Webhooks</h2>
      {deliveries.map((delivery) => (
        <Delivery {...delivery} />
      ))}
    </section>
  );
}

function Delivery({ id, type, state, createdAt, attempts, body }: FollowedDelivery) {
  return (
    <section>
      <h3>
        {type} <span class="badge">{state}</span>
      </h3>
      <p>
        <code>{id}</code>, {time(createdAt)}
      </p>
      {attempts.length === 0 ? (
        <p>No attempt yet.</p>
      ) : (
        <Table label={`Attempts of ${id}`} columns={['Attempt', 'When', 'To', 'Answer', 'ms', 'Error']}>
          {attempts.map(({ attempt, at, url, statusCode, durationMs, error }) => (
            <tr>
              <td>{attempt}</td>
              <td>{time(at)}</td>
              <td class="text">{url}</td>
              <td>{statusCode ?? 'none'}</td>
              <td>{durationMs}</td>
              <td class="text">{printable(error ?? '')}</td>
            </tr>
          ))}
        </Table>
      )}
      {body === undefined ? null : <Text label="Body" text={body} />}
      {attempts.map(({ attempt, sentHeaders = null, answer = null }) => (
        <>
          <Text label={`Headers of attempt ${attempt}`} text={sentHeaders} />
          <Text label={`Answer to attempt ${attempt}`} text={answer} />
        </>
      ))}
    </section>
  );
}

function Text({ label, text }: { label: string; text: string | null }) {
  if (text === null || text === '') return null;
  return (
    <details>
      <summary>{label}</summary>
      <pre>
        <code>{text}</code>
      </pre>
    </details>
  );
}
