import type { listSenders } from '../../api/senders.ts';
import type { Application, SenderRequest } from '../../db/accounts/senderRequests.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Field, Summary, Table, TextArea } from '../parts.tsx';
import { words } from './words.ts';

/** A request as it was sent. */
export type Typed = Application;

interface Props {
  language: Language;
  senders: AnswerOf<(typeof listSenders)['responses']>;
  requests: readonly SenderRequest[];
  /** Whether the person may choose the default and ask for others. */
  manages: boolean;
  typed: Typed;
  fault: Fault | null;
}

export function Senders({ language, senders: { data, current }, requests, manages, typed, fault }: Props) {
  const say = words[language];
  const hasDefault = data.some((sender) => sender.is_default);
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>
        {say.current} <strong>{current}</strong>
        {hasDefault ? '.' : say.ofService}
      </p>
      <section>
        <h2>{say.active}</h2>
        {data.length === 0 ? (
          <p>{say.none}</p>
        ) : (
          <ul class="rows">
            {data.map((sender) => (
              <li>
                <strong>{sender.name}</strong>{' '}
                {sender.is_default ? <span class="badge">{say.isDefault}</span> : null}{' '}
                {manages ? (
                  <form method="post" action="/panel/senders/default">
                    <button class="second" name="name" value={sender.is_default ? '' : sender.name}>
                      {sender.is_default ? say.unset : say.makeDefault}
                      <span class="visually-hidden"> {sender.name}</span>
                    </button>
                  </form>
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </section>
      {requests.length === 0 ? null : (
        <section>
          <h2>{say.requests}</h2>
          <Table label={say.requests} columns={say.columns}>
            {requests.map((request) => (
              <Row language={language} request={request} />
            ))}
          </Table>
        </section>
      )}
      {manages ? (
        <section>
          <h2>{say.ask}</h2>
          <p>{say.askText}</p>
          <form method="post" action="/panel/senders/request" class="stack" noValidate>
            <Field {...{ label: say.name, hint: say.nameHint, fault }} name="name" value={typed.name} />
            <TextArea
              {...{ label: say.purpose, hint: say.purposeHint, fault }}
              name="purpose"
              value={typed.purpose}
            />
            <Field
              {...{ label: say.applicant, hint: say.applicantHint, fault }}
              name="applicant"
              value={typed.applicant}
            />
            <button>{say.send}</button>
          </form>
        </section>
      ) : null}
    </>
  );
}

function Row({ language, request }: { language: Language; request: SenderRequest }) {
  const say = words[language];
  const { name, purpose, state, reason, createdAt, decidedAt } = request;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{moment(language, createdAt)}</td>
      <td>{purpose}</td>
      <td>
        <span class="badge">{say.states[state]}</span>
        {decidedAt === null ? null : <p class="hint">{moment(language, decidedAt)}</p>}
        {reason === null ? null : <p>{reason}</p>}
      </td>
    </tr>
  );
}
