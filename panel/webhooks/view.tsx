import type { listDeliveries } from '../../api/account/webhook.ts';
import type { Exchange } from '../../db/webhooks/webhookDeliveries.ts';
import { EARLIER_EVENT_TYPES, WEBHOOK_EVENT_TYPES } from '../../domain/webhooks.ts';
import type { DeliveryDetails } from '../../operations/webhooks/deliveries.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { count, type Language, moment } from '../language.ts';
import { Act, Copy, Facts, Field, Filters, Results, Select, Summary, Table } from '../parts.tsx';
import type { Settings } from './addresses.tsx';
import { words } from './words.ts';

const PATH = '/panel/webhooks';
const TYPES = [...WEBHOOK_EVENT_TYPES, ...EARLIER_EVENT_TYPES];

type Page = AnswerOf<(typeof listDeliveries)['responses']>;

interface LogProps {
  language: Language;
  query: URLSearchParams;
  settings: Settings;
  page: Page;
  fault: Fault | null;
  /** In Poland. */
  today: string;
}

/** What was posted to the webhooks of the account. */
export function Log({ language, query, settings: { url, legacyUrl }, page, fault, today }: LogProps) {
  const say = words[language];
  const set = [url, legacyUrl].filter((address) => address !== null);
  return (
    <>
      {set.length === 0 ? (
        <p>{say.off}</p>
      ) : (
        set.map((address) => (
          <p>
            {say.postedTo} <code>{address}</code>
          </p>
        ))
      )}
      <p>
        <a href={`${PATH}/address`}>{say.addresses}</a>
      </p>
      {url === null ? null : (
        <form method="post" action={`${PATH}/test`}>
          <button class="second">{say.test}</button>
        </form>
      )}
      <section>
        <h2>{say.log}</h2>
        <LogFilters language={language} query={query} />
        <Results {...{ language, path: PATH, query, next: page.next_cursor }}>
          <Summary language={language} fault={fault} />
          {page.data.length === 0 ? (
            <p>{page.next_cursor === null ? say.none : say.noneYet}</p>
          ) : (
            <Table label={say.log} columns={say.columns}>
              {page.data.map((one) => (
                <Row language={language} one={one} />
              ))}
            </Table>
          )}
        </Results>
        <Act
          {...{ name: '', open: say.resendAll, text: say.resendAllText, act: say.resendAllNow }}
          to={`${PATH}/resend`}
        >
          <Field {...{ label: say.since, fault }} name="since" type="date" value={today} />
        </Act>
      </section>
    </>
  );
}

function LogFilters({ language, query }: Pick<LogProps, 'language' | 'query'>) {
  const say = words[language];
  const value = (name: string) => query.get(name) ?? '';
  const types = { '': say.all, ...Object.fromEntries(TYPES.map((type) => [type, type])) };
  return (
    <Filters language={language} path={PATH}>
      <Select name="state" label={say.state} options={say.stateFilters} value={value('state')} />
      <Select name="type" label={say.type} options={types} value={value('type')} />
      <Field name="status_code" label={say.statusCode} inputMode="numeric" value={value('status_code')} />
      <Field name="from" label={say.from} type="date" value={value('from')} />
      <Field name="to" label={say.to} type="date" value={value('to')} />
      <Field name="id" label={say.id} value={value('id')} />
    </Filters>
  );
}

type State = Page['data'][number]['state'];

/** What is tried again is told apart from what waits for its first attempt, and from what has failed. */
function stateOf(language: Language, state: State, attempts: number): string {
  const { states } = words[language];
  return state === 'pending' && attempts > 0 ? states.retrying : states[state];
}

function Row({ language, one }: { language: Language; one: Page['data'][number] }) {
  const last = one.attempts.at(-1);
  return (
    <tr>
      <th scope="row">
        <a href={`${PATH}/${one.id}`}>{one.type}</a>
        <br />
        <span class="hint">{moment(language, new Date(one.created_at))}</span>
      </th>
      <td>
        <Message id={one.message_id} />
      </td>
      <td>
        <span class="badge">{stateOf(language, one.state, one.attempts.length)}</span>
      </td>
      <td>{count(language, one.attempts.length)}</td>
      <td>{last === undefined ? '–' : answerOf(language, last.status_code)}</td>
      <td>{last === undefined ? '–' : `${count(language, last.duration_ms)} ms`}</td>
    </tr>
  );
}

function Message({ id }: { id: string | null }) {
  if (id === null) return <>–</>;
  return (
    <a href={`/panel/messages/${id}`}>
      <code>{id}</code>
    </a>
  );
}

function answerOf(language: Language, statusCode: number | null): string {
  return statusCode === null ? words[language].unanswered : String(statusCode);
}

interface DeliveryProps {
  language: Language;
  path: string;
  shown: DeliveryDetails;
}

/** One event: what was posted, and each attempt with its answer. */
export function Delivery({ language, path, shown }: DeliveryProps) {
  const say = words[language];
  const { id, type, state, messageId, createdAt, attempts, body } = shown;
  const isOpen = state === 'pending';
  return (
    <>
      <Results {...{ language, path, query: new URLSearchParams(), next: null, live: isOpen }}>
        <Facts
          rows={[
            [say.type, type],
            [say.state, stateOf(language, state, attempts.length)],
            [say.time, moment(language, createdAt)],
            [say.id, <code>{id}</code>],
            ...(messageId === null ? [] : [[say.message, <Message id={messageId} />] as const]),
          ]}
        />
        {attempts.map((attempt) => (
          <Attempt language={language} attempt={attempt} />
        ))}
      </Results>
      <section>
        <h2>{say.body}</h2>
        <p class="hint">{say.bodyHint}</p>
        <pre>
          <code id="body">{body}</code>
        </pre>
        <Copy language={language} of="body" />
      </section>
      {isOpen ? null : (
        <section>
          <h2>{say.resend}</h2>
          <p>{say.resendText}</p>
          <form method="post" action={`${path}/resend`}>
            <button>{say.resend}</button>
          </form>
        </section>
      )}
      <p>
        <a href={PATH}>{say.back}</a>
      </p>
    </>
  );
}

function Attempt({ language, attempt }: { language: Language; attempt: Exchange }) {
  const say = words[language];
  const { at, url, statusCode, durationMs, sentHeaders, answerHeaders, answer } = attempt;
  return (
    <section>
      <h2>
        {say.attempt} {attempt.attempt} <span class="badge">{answerOf(language, statusCode)}</span>
      </h2>
      <p>
        {moment(language, at)}, {count(language, durationMs)} ms, <code>{url}</code>
      </p>
      <Shown label={say.sent} text={sentHeaders} />
      <Shown label={say.answerHeaders} text={answerHeaders} />
      <Shown label={say.answer} text={answer} />
    </section>
  );
}

/** Text of others, which is only ever text. */
function Shown({ label, text }: { label: string; text: string | null }) {
  if (text === null || text === '') return null;
  return (
    <>
      <h3>{label}</h3>
      <pre>
        <code>{text}</code>
      </pre>
    </>
  );
}
