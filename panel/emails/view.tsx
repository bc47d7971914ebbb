import type { z } from 'zod';
import type { emailSchema, emailWithEventsSchema } from '../../api/email/read.ts';
import type { Fault } from '../ask.ts';
import { count, type Language, moment, pln } from '../language.ts';
import { Facts, Field, Filters, isFiltered, Listing, Select, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

const PATH = '/panel/emails';

type ShownEmail = z.output<typeof emailSchema>;
type EmailWithEvents = z.output<typeof emailWithEventsSchema>;

interface ListProps {
  language: Language;
  query: URLSearchParams;
  emails: readonly ShownEmail[];
  next: string | null;
  fault: Fault | null;
}

export function List({ language, query, emails, next, fault }: ListProps) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <ul class="rows links">
        <li>
          <a href={`${PATH}/domains`}>{say.domains}</a>
        </li>
        <li>
          <a href={`${PATH}/suppressions`}>{say.suppressions}</a>
        </li>
      </ul>
      <Filters language={language} path={PATH}>
        <Select
          name="status"
          label={say.status}
          value={query.get('status') ?? ''}
          options={{ '': say.anyStatus, ...say.statuses }}
        />
        <Field name="to" label={say.to} fault={fault} value={query.get('to') ?? ''} />
        <Field name="idx" label={say.idx} fault={fault} value={query.get('idx') ?? ''} />
      </Filters>
      <Listing
        {...{ language, query, next }}
        path={PATH}
        live={fault === null}
        label={say.heading}
        columns={say.columns}
        rows={emails.map((email) => (
          <Row language={language} email={email} />
        ))}
        none={isFiltered(query) ? say.noneFound : say.none}
      />
    </>
  );
}

function Row({ language, email }: { language: Language; email: ShownEmail }) {
  const say = words[language];
  const { id, subject, recipients, status, created_at: createdAt } = email;
  const [first, ...others] = recipients;
  return (
    <tr>
      <th scope="row">
        <a href={`${PATH}/${id}`}>{subject}</a>
      </th>
      <td>
        {first?.address} {others.length === 0 ? null : say.more(count(language, others.length))}
      </td>
      <td>
        <span class="badge">{say.statuses[status]}</span>
      </td>
      <td>{moment(language, new Date(createdAt))}</td>
    </tr>
  );
}

export function Email({ language, email }: { language: Language; email: EmailWithEvents }) {
  const say = words[language];
  const states = { ...say.statuses, ...say.states };
  return (
    <>
      <p>
        <span class="badge">{say.statuses[email.status]}</span> {say.statusTexts[email.status]}
      </p>
      <About language={language} email={email} />
      <section>
        <h2>{say.recipients}</h2>
        <Table label={say.recipients} columns={say.recipientColumns}>
          {email.recipients.map(({ address, kind, state }) => (
            <tr>
              <th scope="row">{address}</th>
              <td>{kind}</td>
              <td>{states[state]}</td>
            </tr>
          ))}
        </Table>
      </section>
      <section>
        <h2>{say.events}</h2>
        {email.events.length === 0 ? (
          <p>{say.noEvents}</p>
        ) : (
          <Table label={say.events} columns={say.eventColumns}>
            {email.events.map(({ at, kind, address, permanent }) => (
              <tr>
                <th scope="row">{moment(language, new Date(at))}</th>
                <td>
                  {say.kinds[kind]} {permanent === true ? say.permanent : null}
                </td>
                <td>{address}</td>
              </tr>
            ))}
          </Table>
        )}
        {email.events_left_out === 0 ? null : <p>{say.leftOut(count(language, email.events_left_out))}</p>}
      </section>
      <p>
        <a href={PATH}>{say.back}</a>
      </p>
    </>
  );
}

function About({ language, email }: { language: Language; email: EmailWithEvents }) {
  const say = words[language];
  const { from, from_name: name, reply_to: replyTo, cost, idx, error } = email;
  const facts = [
    [say.from, name === null ? from : `${name} <${from}>`],
    [say.replyTo, replyTo],
    [say.cost, pln(language, cost)],
    [say.idx, idx],
    [say.accepted, moment(language, new Date(email.created_at))],
    [say.sentAt, email.sent_at === null ? say.notYet : moment(language, new Date(email.sent_at))],
    [say.error, error],
  ] as const;
  return <Facts rows={facts} />;
}
