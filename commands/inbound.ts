import { listKeywords } from '../db/accounts/keywords.ts';
import { listUnmatched } from '../db/incoming/replies.ts';
import { restrictionOf } from '../domain/keywords.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import {
  allowKeyword,
  disableInbound,
  enableInbound,
  lacksConsent,
  releaseKeyword,
  revokeKeyword,
} from '../operations/accounts/inbound.ts';
import { assignReply, dropReply } from '../operations/support/unmatched.ts';
import { command, flag, required, shown } from './command.ts';
import { account, id, inFull, limit, onlyAccount, phoneNumber, text } from './values.ts';

const reply = required('<ID>', 'the reply', id('in', 'a reply'));

const word = required(
  '--word <WORD>',
  'the keyword, 2 to 10 letters (A to Z) or digits, in any case',
  text
    .regex(/^[A-Za-z0-9]{2,10}$/, 'a keyword has 2 to 10 letters (A to Z) or digits')
    .transform((typed) => typed.toUpperCase()),
);

export const inboundCommands = [
  command({
    name: 'inbound enable',
    about: 'Lets an account receive replies on a number; several accounts may share one.',
    options: {
      account,
      msisdn: required('--number <NUMBER>', 'the receiving number, E.164 or 9 digits (Polish)', phoneNumber),
    },
    async ask(asking, input) {
      const { keyword } = await enableInbound({ ...asking, input });
      return shown({ accountId: input.account, inboundNumber: input.msisdn, inboundPrefix: keyword });
    },
  }),
  command({
    name: 'inbound disable',
    about: 'Ends the receiving of replies; the keyword stays the account’s.',
    options: { account },
    async ask(asking, input) {
      await disableInbound({ ...asking, input });
      return shown({ accountId: input.account, inboundNumber: null });
    },
  }),
  command({
    name: 'inbound unmatched',
    about: 'Lists the replies that belong to no account, the oldest first.',
    options: { text: inFull('--text', 'with their texts, and the numbers in full'), limit: limit(50) },
    async run(sql, { text: inFull, limit }) {
      const found = await listUnmatched(sql, limit);
      const data = found.map(({ from, text, ...reply }) =>
        inFull ? { ...reply, from, text } : { ...reply, from: maskMsisdn(from) },
      );
      return { result: { data }, details: inFull ? { text: true } : {} };
    },
  }),
  command({
    name: 'inbound assign',
    about: 'Gives a reply of inbound unmatched to an account, with its webhook and its opt-out.',
    options: { id: reply, account },
    ask: async (asking, input) => shown(await assignReply({ ...asking, input })),
  }),
  command({
    name: 'inbound drop',
    about: 'Erases text and number of a reply of inbound unmatched, which nobody gets.',
    options: { id: reply },
    async ask(asking, input) {
      await dropReply({ ...asking, input });
      return shown({ id: input.id, dropped: true });
    },
  }),
  command({
    name: 'inbound allow-keyword',
    about: 'Lets an account have an everyday word as its keyword, with all replies that begin with it.',
    options: { account, word },
    async ask(asking, input) {
      await allowKeyword({ ...asking, input });
      return shown({ accountId: input.account, word: input.word, allowed: true });
    },
  }),
  command({
    name: 'inbound revoke-keyword',
    about: 'Withdraws the consent to an everyday word, and the keyword itself, which rests then.',
    options: { account, word },
    async ask(asking, input) {
      const { takenAway } = await revokeKeyword({ ...asking, input });
      return shown({ accountId: input.account, word: input.word, allowed: false, takenAway });
    },
  }),
  command({
    name: 'inbound release-keyword',
    about: 'Ends the rest of a keyword that was given up less than 30 days ago: any account may claim it.',
    options: { word },
    async ask(asking, input) {
      const { formerAccount } = await releaseKeyword({ ...asking, input });
      return shown({ word: input.word, formerAccountId: formerAccount });
    },
  }),
  command({
    name: 'inbound keywords',
    about: 'Lists keywords in use, allowed and at rest; some everyday words are older than the consent.',
    options: {
      account: onlyAccount,
      undecided: flag('--undecided', 'only everyday words that are in use without consent'),
    },
    async run(sql, { account = null, undecided }) {
      const keywords = (await listKeywords(sql, account)).filter((one) => !undecided || lacksConsent(one));
      const data = keywords.map((keyword) => ({
        ...keyword,
        everyday: restrictionOf(keyword.word) !== null,
      }));
      return shown({ data });
    },
  }),
];
