import type { listDeliveries } from '../../api/account/webhook.ts';
import type { getMessage, listMessageEvents } from '../../api/messages/history.ts';
import { isFinal, reasonInEnglish } from '../../domain/statuses.ts';
import type { AnswerOf } from '../ask.ts';
import { count, type Language, moment, pln } from '../language.ts';
import { Act, Facts, Table } from '../parts.tsx';
import { StatusBadge } from './status.tsx';
import { words } from './words.ts';

type Shown = AnswerOf<(typeof getMessage)['responses']>;
type Event = AnswerOf<(typeof listMessageEvents)['responses']>['data'][number];
type Delivery = AnswerOf<(typeof listDeliveries)['responses']>['data'][number];

interface Props {
  language: Language;
  message: Shown;
  events: readonly Event[];
  deliveries: readonly Delivery[];
  /** Whether the person may send. */
  sends: boolean;
}

export function Message({ language, message, events, deliveries, sends }: Props) {
  const say = words[language];
  const { id, to, type, status, text, links } = message;
  const name = say.title(to);
  return (
    <>
      <div
        id="message"
        {...(isFinal(status)
          ? {}
          : {
              'hx-get': `/panel/messages/${id}`,
              'hx-trigger': 'every 5s',
              'hx-select': '#message',
              'hx-swap': 'outerMorph',
            })}
      >
        <p>
          <StatusBadge language={language} status={status} /> {sentences(language, message, events).join(' ')}
        </p>
        <p class="bubble">{text}</p>
        <About language={language} message={message} />
        <section>
          <h2>{say.timeline}</h2>
          <ol class="timeline">
            {events.map((event) => (
              <li>
                <time dateTime={event.at}>{moment(language, new Date(event.at))}</time>{' '}
                <Step language={language} event={event} />
              </li>
            ))}
          </ol>
        </section>
      </div>
      {links.length === 0 ? null : <Links language={language} links={links} />}
      {deliveries.length === 0 ? null : <Deliveries language={language} deliveries={deliveries} />}
      {sends ? (
        <section class="stack">
          {status === 'scheduled' ? (
            <Act
              {...{ name, open: say.cancel, text: say.cancelText, act: say.cancelNow }}
              to={`/panel/messages/${id}/cancel`}
            />
          ) : null}
          {type === 'sms' ? <a href={`/panel/send?again=${id}`}>{say.again}</a> : null}
        </section>
      ) : null}
    </>
  );
}

/** Why it ended as it did, and whether it cost. */
function sentences(
  language: Language,
  { status, error, cost_grosze }: Shown,
  events: readonly Event[],
): string[] {
  const say = words[language];
  const why = error === null || language === 'pl' ? error : reasonInEnglish(error);
  const reason = why ?? say.reasons[status];
  const charges = events.flatMap(({ amount_grosze }) => (amount_grosze === null ? [] : [-amount_grosze]));
  const paid = charges.reduce((sum, grosze) => sum + grosze, 0);
  const wasRefunded = events.some(({ type }) => type === 'refunded');
  const cost = () => {
    if (wasRefunded) return say.refunded;
    if (charges.length > 0) return paid === 0 ? say.wasFree : say.cost(pln(language, paid));
    return cost_grosze === 0 || isFinal(status) ? say.costNothing : say.willCost(pln(language, cost_grosze));
  };
  return [...(reason === null ? [] : [reason]), cost()];
}

function About({ language, message }: { language: Language; message: Shown }) {
  const say = words[language];
  const { id, type, to, from, subject, parts, reference, send_at, expires_at, created_at } = message;
  const time = (at: string | null) => (at === null ? null : moment(language, new Date(at)));
  const facts = {
    to,
    from,
    type: say.types[type],
    subject,
    parts: count(language, parts),
    reference,
    created_at: time(created_at),
    send_at: time(send_at),
    expires_at: time(expires_at),
    id,
  } satisfies Record<keyof typeof say.facts, string | null>;
  const rows = Object.entries(facts).map(
    ([name, value]) => [say.facts[name as keyof typeof facts], value] as const,
  );
  return <Facts rows={rows} />;
}

function Step({ language, event }: { language: Language; event: Event }) {
  const say = words[language];
  const { type, status, part, amount_grosze, status_code, attempt } = event;
  const more = [
    ...(status === null ? [] : [say.statuses[status]]),
    ...(part === null ? [] : [say.part(count(language, part))]),
    ...(amount_grosze === null
      ? []
      : [amount_grosze === 0 ? say.free : pln(language, Math.abs(amount_grosze))]),
    ...(attempt === null ? [] : [`${count(language, attempt)}, ${say.statusCode(status_code)}`]),
  ];
  return <>{more.length === 0 ? say.steps[type] : `${say.steps[type]}: ${more.join(', ')}`}</>;
}

function Links({ language, links }: { language: Language; links: Shown['links'] }) {
  const say = words[language];
  return (
    <section>
      <h2>{say.links}</h2>
      <Table label={say.links} columns={say.linkColumns}>
        {links.map(({ token, url, clicks }) => (
          <tr>
            <th scope="row">
              <a href={`/panel/links/${token}`}>{token}</a>
            </th>
            <td class="text">{url}</td>
            <td>{count(language, clicks)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Deliveries({ language, deliveries }: { language: Language; deliveries: readonly Delivery[] }) {
  const say = words[language];
  return (
    <section>
      <h2>{say.deliveries}</h2>
      <Table label={say.deliveries} columns={say.deliveryColumns}>
        {deliveries.map(({ type, state, created_at, attempts }) => (
          <tr>
            <th scope="row">{type}</th>
            <td>{say.states[state]}</td>
            <td>
              {attempts.map(({ status_code }) => say.statusCode(status_code)).join(', ') || say.noAttempt}
            </td>
            <td>{moment(language, new Date(created_at))}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
