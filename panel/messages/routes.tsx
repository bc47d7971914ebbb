import { listDeliveries } from '../../api/account/webhook.ts';
import { cancelMessage, getMessage, listMessageEvents, listMessages } from '../../api/messages/history.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { addDays, parseDay, startOfDay } from '../../domain/calendar.ts';
import { withoutSeparators } from '../../domain/msisdn.ts';
import { ask, filled, attempt } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Messages } from './list.tsx';
import { Message } from './message.tsx';
import { words } from './words.ts';

const FILTERS = ['to', 'reference', 'status', 'since', 'until', 'cursor'];

async function list(visit: MemberVisit): Promise<Answer> {
  const { language, query } = visit;
  const { to, since, until, ...rest } = filled(query, FILTERS);
  const asked = {
    ...rest,
    ...(to === undefined ? {} : { to: withoutSeparators(to) }),
    ...(since === undefined ? {} : { since: startOf(since, 0) }),
    ...(until === undefined ? {} : { until: startOf(until, 1) }),
  };
  const found = await attempt(language, ask(visit, listMessages, { query: asked }));
  const isFree = visit.account.mode === 'test';
  const sends = visit.caller.scopes.includes('send');
  const view = <Messages {...{ language, query, found, isFree, sends }} />;
  return { status: 200, title: words[language].heading, view };
}

/** The start of a Polish day, or of one so many days later, as the API has it. What is no day is refused there. */
function startOf(written: string, later: number): string {
  const day = parseDay(written);
  return day === null ? written : new Date(startOfDay(addDays(day, later))).toISOString();
}

async function show(visit: MemberVisit): Promise<Answer> {
  const { language, params, caller } = visit;
  const id = params['id'] ?? '';
  const [message, events, deliveries] = await Promise.all([
    ask(visit, getMessage, { params: { id } }),
    ask(visit, listMessageEvents, { params: { id } }),
    ask(visit, listDeliveries, { query: { message_id: id } }),
  ]);
  const view = (
    <Message
      {...{ language, message, events: events.data, deliveries: deliveries.data }}
      sends={caller.scopes.includes('send')}
    />
  );
  return { status: 200, title: words[language].title(message.to), view };
}

export const messageRoutes = [
  accountPage('/panel/messages', ROLES, { get: list }),
  accountPage('/panel/messages/:id', ROLES, { get: show }),
  accountPage('/panel/messages/:id/cancel', MANAGERS, {
    async post(visit) {
      const { id } = await ask(visit, cancelMessage, { params: visit.params });
      return { to: `/panel/messages/${id}` };
    },
  }),
];
