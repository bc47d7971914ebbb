import type { Open } from '../../operations/support/erase.ts';
import { addressKey, emailAddress } from '../../domain/email/address.ts';
import { type Asking, command, optional, type Shown, yes } from './command.ts';
import { readNumber } from './msisdn.ts';
import { invalidArgument, refused } from './problems.ts';
import { accountId, text } from './values.ts';

const erase = command({
  name: 'erase',
  about:
    'Erases what is stored about one phone number or e-mail address, on its owner’s request; what it wants no more stays.',
  options: {
    number: optional('NUMBER', 'the number, E.164 or 9 digits (Polish)', text),
    email: optional('ADDRESS', 'or the e-mail address', text),
    account: optional('ID', 'only of this account', accountId),
    yes,
  },
  async ask(asking, { number, email, account = null, yes: agreed = false }): Promise<Shown> {
    if ((number === undefined) === (email === undefined)) throw refused('Give either --number or --email.');
    if (number === undefined) return await eraseAddress(asking, email!, account, agreed);
    const msisdn = await readNumber('--number', number);
    const { erase: ask } = await import('../../operations/support/erase.ts');
    const { traces, done } = await ask({ ...asking, input: { msisdn, account, agreed } });
    if (done === null) {
      return {
        result: { erased: false, ...traces },
        remark:
          'Nothing was changed. With --yes all of this is erased, and scheduled messages are cancelled.',
      };
    }
    const { cancelled, open } = done;
    const remark = whatIsLeft(open);
    return {
      result: { erased: true, ...traces, cancelled, ...open },
      ...(remark === '' ? {} : { remark }),
    };
  },
});

export const eraseCommands = [erase];

function whatIsLeft({ open_messages: messages, open_replies: replies, open_lookups: lookups }: Open): string {
  const others = replies + lookups;
  return [
    ...(messages === 1
      ? ['1 message has not ended yet; it is erased in the night after it has.']
      : messages > 1
        ? [`${messages} messages have not ended yet; they are erased in the night after they have.`]
        : []),
    ...(others > 0
      ? [
          `Not decided yet, and not erased: replies ${replies}, look-ups ${lookups}; erase again in some minutes.`,
        ]
      : []),
  ].join(' ');
}

async function eraseAddress(
  asking: Asking,
  typed: string,
  account: string | null,
  agreed: boolean,
): Promise<Shown> {
  const address = emailAddress(typed);
  if (address === null) throw invalidArgument('--email', 'an address such as jan@example.com is needed');
  const { eraseAddress: ask } = await import('../../operations/support/erase.ts');
  const { traces, done } = await ask({ ...asking, input: { address: addressKey(address), account, agreed } });
  if (done === null) {
    return {
      result: { erased: false, ...traces },
      remark:
        'Nothing was changed. With --yes all of this is erased, and e-mails that no provider was given yet are given up and refunded.',
    };
  }
  const { givenUp, left } = done;
  return {
    result: { erased: true, ...traces, given_up: givenUp, open_emails: left },
    ...(left > 0
      ? {
          remark: `${left === 1 ? '1 e-mail' : `${left} e-mails`} may be with a provider, which says so within 72 hours; erase again after that.`,
        }
      : {}),
  };
}
