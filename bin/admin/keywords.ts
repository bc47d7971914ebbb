import { listKeywords } from '../../db/accounts/keywords.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
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
  async ask(asking, input): Promise<Shown> {
    const { allowKeyword } = await import('../../operations/accounts/keywords.ts');
    await allowKeyword({ ...asking, input });
    return { result: { account_id: input.account, word: input.word, allowed: true } };
  },
});

const revoke = command({
  name: 'inbound revoke-keyword',
  about:
    'Takes the consent to an everyday word back, and the keyword itself from an account that has it; it rests then.',
  options: { account, word },
  async ask(asking, input): Promise<Shown> {
    const { revokeKeyword } = await import('../../operations/accounts/keywords.ts');
    const { takenAway } = await revokeKeyword({ ...asking, input });
    return {
      result: { account_id: input.account, word: input.word, allowed: false, taken_away: takenAway },
    };
  },
});

const release = command({
  name: 'inbound release-keyword',
  about: 'Ends the rest of a keyword that was given up less than 30 days ago: any account may claim it.',
  options: { word },
  async ask(asking, input): Promise<Shown> {
    const { releaseKeyword } = await import('../../operations/accounts/keywords.ts');
    const { formerAccount } = await releaseKeyword({ ...asking, input });
    return { result: { word: input.word, former_account_id: formerAccount } };
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
      result: {
        data: keywords.map((keyword) => ({
          ...byColumnName(keyword),
          everyday: guardOf(keyword.word) !== null,
        })),
      },
      ...(values.account === undefined ? {} : { account: values.account }),
    };
  },
});

export const keywordCommands = [allow, revoke, release, list];
