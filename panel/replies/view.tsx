import type { ComponentChildren } from 'preact';
import type { listBlacklist } from '../../api/blacklist.ts';
import type { listInbound } from '../../api/inbound.ts';
import type { listMessages } from '../../api/messages/history.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { StatusBadge } from '../messages/status.tsx';
import { Field, Filters, Hidden, isFiltered, Listing, Select, TextArea } from '../parts.tsx';
import { words } from './words.ts';

type Inbound = AnswerOf<(typeof listInbound)['responses']>;
type Outbound = AnswerOf<(typeof listMessages)['responses']>;
type Listed = AnswerOf<(typeof listBlacklist)['responses']>['data'][number];

const PATH = '/panel/replies';

interface RepliesProps {
  language: Language;
  query: URLSearchParams;
  found: { answer: Inbound | null; fault: Fault | null };
}

export function Replies({ language, query, found: { answer, fault } }: RepliesProps) {
  const say = words[language];
  const receiver = answer?.inbound_number ?? null;
  const keyword = answer?.prefix ?? null;
  return (
    <>
      {receiver === null ? null : <p>{say.receiver(receiver, keyword)}</p>}
      <Filters language={language} path={PATH}>
        <Field name="from" label={say.from} value={query.get('from') ?? ''} inputMode="tel" fault={fault} />
        <Select
          name="unread"
          label={say.shown}
          options={{ '': say.all, true: say.unreadOnly }}
          value={query.get('unread') ?? ''}
        />
      </Filters>
      <Listing
        {...{ language, query, fault, path: PATH }}
        next={answer?.next_cursor ?? null}
        live={!query.has('cursor')}
        label={say.heading}
        columns={say.columns}
        rows={(answer?.data ?? []).map(({ from, text, received_at, read_at }) => (
          <tr>
            <th scope="row">
              <a href={`${PATH}/${from}`}>{from}</a>
            </th>
            <td class="text">
              <p class="cut">{text}</p>
            </td>
            <td>{read_at === null ? <span class="badge">{say.unread}</span> : say.read}</td>
            <td>{moment(language, new Date(received_at))}</td>
          </tr>
        ))}
        none={receiver === null ? say.notReceiving : isFiltered(query) ? say.noneFound : say.none}
      />
    </>
  );
}

interface ConversationProps {
  language: Language;
  /** As asked for. */
  number: string;
  replies: Inbound;
  messages: Outbound;
  /** Its entry in the blacklist. */
  blacklisted: Listed | null;
  /** Whether the person may send. */
  sends: boolean;
}

export function Conversation({ language, number, replies, messages, blacklisted, sends }: ConversationProps) {
  const say = words[language];
  const turns = [
    ...replies.data.map((reply) => ({ at: reply.received_at, reply })),
    ...messages.data.map((message) => ({ at: message.send_at ?? message.created_at, message })),
  ]
    .reverse()
    .sort((one, other) => one.at.localeCompare(other.at));
  const hasMore = replies.next_cursor !== null || messages.next_cursor !== null;
  return (
    <>
      {blacklisted === null ? null : (
        <p class="notice">
          {blacklisted.reason === 'opt_out' ? say.optedOut : say.blacklisted}{' '}
          {moment(language, new Date(blacklisted.created_at))}.
        </p>
      )}
      {hasMore ? (
        <p>
          {say.latestOnly} <a href={`/panel/messages?to=${encodeURIComponent(number)}`}>{say.allMessages}</a>
        </p>
      ) : null}
      {turns.length === 0 ? <p>{say.nothing}</p> : null}
      <ol class="talk">
        {turns.map((turn) => (
          <li class={'reply' in turn ? 'theirs' : 'ours'}>
            {'reply' in turn ? (
              <Turn language={language} at={turn.at} who={say.theirs} text={turn.reply.text}>
                {turn.reply.read_at === null ? <span class="badge">{say.unread}</span> : null}
              </Turn>
            ) : (
              <Turn language={language} at={turn.at} who={say.ours} text={turn.message.text}>
                <StatusBadge language={language} status={turn.message.status} />{' '}
                <a href={`/panel/messages/${turn.message.id}`}>{say.details}</a>
              </Turn>
            )}
          </li>
        ))}
      </ol>
      {sends && replies.data.some(({ read_at }) => read_at === null) ? (
        <form method="post" action={`${PATH}/${encodeURIComponent(number)}/read`}>
          <button class="second">{say.markRead}</button>
        </form>
      ) : null}
      {sends && blacklisted === null ? (
        <section>
          <h2>{say.answer}</h2>
          <form method="post" action="/panel/send" class="stack">
            <Hidden fields={{ to: number }} />
            <TextArea name="text" label={say.text} />
            <button>{say.next}</button>
          </form>
        </section>
      ) : null}
    </>
  );
}

interface TurnProps {
  language: Language;
  at: string;
  who: string;
  text: string;
  children: ComponentChildren;
}

function Turn({ language, at, who, text, children }: TurnProps) {
  return (
    <>
      <p class="bubble">{text}</p>
      <p class="hint">
        {who}, <time dateTime={at}>{moment(language, new Date(at))}</time> {children}
      </p>
    </>
  );
}
