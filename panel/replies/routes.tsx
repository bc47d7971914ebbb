import { listBlacklist } from '../../api/blacklist.ts';
import { listInbound } from '../../api/inbound.ts';
import { listMessages } from '../../api/messages/history.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { withoutSeparators } from '../../domain/msisdn.ts';
import { ask, attempt, filled, requireActive } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Conversation, Replies } from './view.tsx';
import { words } from './words.ts';

async function list(visit: MemberVisit): Promise<Answer> {
  const { language, query } = visit;
  const { from, ...rest } = filled(query, ['from', 'unread', 'cursor']);
  const asked = { ...rest, ...(from === undefined ? {} : { from: withoutSeparators(from) }) };
  const found = await attempt(language, ask(visit, listInbound, { query: asked }));
  const view = <Replies {...{ language, query, found }} />;
  return { status: 200, title: words[language].heading, view };
}

const numberOf = ({ params }: MemberVisit): string => withoutSeparators(params['number'] ?? '');

/** The latest replies of a number, and messages to it. */
async function show(visit: MemberVisit): Promise<Answer> {
  const { language, caller } = visit;
  const number = numberOf(visit);
  const [replies, messages, listed] = await Promise.all([
    ask(visit, listInbound, { query: { from: number } }),
    ask(visit, listMessages, { query: { to: number } }),
    ask(visit, listBlacklist, { query: { msisdn: number } }),
  ]);
  const view = (
    <Conversation
      {...{ language, number, replies, messages, blacklisted: listed.data[0] ?? null }}
      sends={caller.scopes.includes('send')}
    />
  );
  return { status: 200, title: words[language].title(number), view };
}

export const replyRoutes = [
  accountPage('/panel/replies', ROLES, { get: list }),
  accountPage('/panel/replies/:number', ROLES, { get: show }),
  // Not by opening it: programs of the account may take replies by whether they are read.
  accountPage('/panel/replies/:number/read', MANAGERS, {
    async post(visit) {
      requireActive(visit);
      const number = numberOf(visit);
      await ask(visit, listInbound, {
        query: { from: number, unread: 'true', mark_read: 'true', limit: '200' },
      });
      return { to: `/panel/replies/${number}` };
    },
  }),
];
