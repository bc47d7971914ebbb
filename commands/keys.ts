import { listTokens } from '../db/accounts/keys.ts';
import { listKeys } from '../db/accounts/staff.ts';
import { MAX_GROSZE, MAX_RATE_LIMIT, TOKEN_LABEL_LENGTH } from '../domain/money.ts';
import { ALL_SCOPES } from '../domain/actor.ts';
import {
  changeToolBudget,
  type CreatedToken,
  createKey,
  createToken,
  revokeKey,
  revokeToken,
  rotateToken,
} from '../operations/accounts/keys.ts';
import { command, optional, required, shown } from './command.ts';
import { account, choice, id, line, orNone, text, wholeNumber } from './values.ts';

const SHOWN_ONCE = 'It is shown this once; only its hash is kept.';
const key = required('<KEY_ID>', 'the key', id('key', 'a key'));
const grosze = orNone(wholeNumber(0, MAX_GROSZE, ' of grosze'));
const rateLimit = wholeNumber(1, MAX_RATE_LIMIT);
const token = required('<TOKEN_ID>', 'the token', id('tok', 'a token'));

// `send,read` → those scopes in their usual order, without duplicates.
const scopes = text
  .refine(
    (list) => list.split(',').every((scope) => ALL_SCOPES.some((known) => known === scope)),
    'a list such as send,read,manage is needed',
  )
  .transform((list) => ALL_SCOPES.filter((scope) => list.split(',').includes(scope)));

export const keyCommands = [
  command({
    name: 'keys create',
    about: 'Makes an API key and shows it, this once.',
    options: {
      account,
      scopes: optional('--scopes <LIST>', 'of send, read, manage; default: all three', scopes),
      mode: choice('--mode', "default: the account's", 'test', 'live'),
    },
    async ask(asking, input) {
      const { id, ...key } = await createKey({ ...asking, input });
      return shown({ id, accountId: input.account, ...key }, SHOWN_ONCE);
    },
  }),
  command({
    name: 'keys revoke',
    about: 'Revokes a key at once; a second time changes nothing.',
    options: { key },
    ask: async (asking, input) => shown(await revokeKey({ ...asking, input })),
  }),
  command({
    name: 'keys budget',
    about: "Sets what a key may charge in a day through assistants' tools.",
    options: {
      key,
      grosze: required('--grosze <N|none>', 'net for each Polish calendar day; none: no bound', grosze),
    },
    ask: async (asking, input) => shown(await changeToolBudget({ ...asking, input })),
  }),
  command({
    name: 'keys list',
    about: 'Lists the keys of an account by their hints, revoked ones too, with today’s charges of tools.',
    options: { account },
    run: async (sql, { account }) => shown({ data: await listKeys(sql, account) }),
  }),
  command({
    name: 'tokens create',
    about: 'Makes an API token of the earlier interface and shows it, this once.',
    options: {
      account,
      label: required('--label <TEXT>', 'what the token is for', line(TOKEN_LABEL_LENGTH)),
      rateLimit: optional('--rate-limit <N>', 'requests a minute; default: 100', rateLimit),
    },
    ask: async (asking, input) => shownOnce(await createToken({ ...asking, input })),
  }),
  command({
    name: 'tokens rotate',
    about: 'Revokes a token at once and shows another with its label, this once.',
    options: { token },
    ask: async (asking, input) => shownOnce(await rotateToken({ ...asking, input })),
  }),
  command({
    name: 'tokens revoke',
    about: 'Revokes a token at once; a second time changes nothing.',
    options: { token },
    ask: async (asking, input) => shown(await revokeToken({ ...asking, input })),
  }),
  command({
    name: 'tokens list',
    about: 'Lists the tokens of an account by their labels and hints, revoked ones too.',
    options: { account },
    run: async (sql, { account }) => shown({ data: await listTokens(sql, account) }),
  }),
];

function shownOnce({ rateLimit: rateLimitPerMinute, ...token }: CreatedToken) {
  return shown({ ...token, rateLimitPerMinute }, SHOWN_ONCE);
}
