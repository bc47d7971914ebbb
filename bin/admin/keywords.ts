import {
  allowKeyword,
  listKeywords,
  releaseKeyword,
  revokeKeyword,
  takeKeywordAway,
} from '../../db/accounts/keywords.ts';
import { command, optional, required, type Outcome } from './command.ts';
import { findAccount, holdAccount, requireOpen } from './lookup.ts';
import { notFound, refused } from './problems.ts';
import { accountId, text } from './values.ts';

const account = required('ID', 'the account', accountId);
const word = required(
  'WORD',
  'the keyword, 2 to 10 letters (A to Z) or digits, in any case',
  text
    .regex(/^[A-Za-z0-9]{2,10}$/, 'a keyword has 2 to 10 letters (A to Z) or digits')
    .transform((typed) => typed.toUpperCase()),
);

const allow = command({
  name: 'inbound allow-keyword',
  about:
    'Lets an account have an everyday word as its keyword: replies of others’ recipients that begin with it are its own then.',
  options: { account, word },
  async run(sql, values): Promise<Outcome> {
    const { guardOf } = await import('../../domain/guardedKeywords.ts');
    const { id, ...rest } = await holdAccount(sql, values.account);
    requireOpen({ id, ...rest });
    const guard = guardOf(values.word);
    if (guard === 'opt_out') throw refused(`${values.word} unsubscribes, and cannot be anybody’s keyword.`);
    if (guard === null) throw refused(`${values.word} needs no consent: any account may claim it.`);
    const isNew = await allowKeyword(sql, id, values.word);
    return {
      result: { account_id: id, word: values.word, allowed: true },
      account: id,
      subject: values.word,
      details: { was_allowed: !isNew },
    };
  },
});

const revoke = command({
  name: 'inbound revoke-keyword',
  about:
    'Takes the consent to an everyday word back, and the keyword itself from an account that has it; it rests then.',
  options: { account, word },
  async run(sql, values): Promise<Outcome> {
    const { id } = await holdAccount(sql, values.account);
    const revoked = await revokeKeyword(sql, id, values.word);
    const takenAway = await takeKeywordAway(sql, id, values.word);
    if (!revoked && !takenAway) {
      throw notFound(`The account ${id} neither has the keyword ${values.word} nor may claim it by consent.`);
    }
    return {
      result: { account_id: id, word: values.word, allowed: false, taken_away: takenAway },
      account: id,
      subject: values.word,
      details: { was_allowed: revoked, taken_away: takenAway },
    };
  },
});

const release = command({
  name: 'inbound release-keyword',
  about: 'Ends the rest of a keyword that was given up less than 30 days ago: any account may claim it.',
  options: { word },
  async run(sql, values): Promise<Outcome> {
    const former = await releaseKeyword(sql, values.word);
    if (former === null) throw notFound(`The keyword ${values.word} does not rest.`);
    return {
      result: { word: values.word, former_account_id: former },
      account: former,
      subject: values.word,
    };
  },
});

const list = command({
  name: 'inbound keywords',
  about:
    'Lists keywords in use, allowed and at rest; everyday words without consent were claimed before consent was needed.',
  options: { account: optional('ID', 'only of this account', accountId) },
  async run(sql, values): Promise<Outcome> {
    const { guardOf } = await import('../../domain/guardedKeywords.ts');
    if (values.account !== undefined) await findAccount(sql, values.account);
    const keywords = await listKeywords(sql, values.account ?? null);
    return {
      result: { data: keywords.map((keyword) => ({ ...keyword, everyday: guardOf(keyword.word) !== null })) },
      ...(values.account === undefined ? {} : { account: values.account }),
    };
  },
});

export const keywordCommands = [allow, revoke, release, list];
