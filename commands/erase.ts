import { addressKey, emailAddress } from '../domain/email/address.ts';
import type { Done } from '../operations/support/erase.ts';
import { rotateSecrets } from '../operations/support/rotateSecrets.ts';
import { command, NOTHING_DONE, optional, required, shown } from './command.ts';
import { invalidArgument, refused } from './errors.ts';
import { onlyAccount, phoneNumber, readBy, text, yes } from './values.ts';

const address = readBy(emailAddress, 'an address such as jan@example.com is needed');
// 32 bytes in base64.
const KEY = /^[A-Za-z0-9+/]{43}=$/;

// Remarks on what could not be erased yet.
const LEFT: readonly ((done: Done) => string | null)[] = [
  ({ open_messages: count = 0 }) => {
    if (count === 0) return null;
    if (count === 1) return '1 message has not ended yet; it is erased in the night after it has.';
    return `${count} messages have not ended yet; they are erased in the night after they have.`;
  },
  ({ open_replies: replies = 0, open_lookups: lookups = 0 }) =>
    replies + lookups === 0
      ? null
      : `Not decided yet, and not erased: replies ${replies}, look-ups ${lookups}; erase again in some minutes.`,
  ({ open_emails: count = 0 }) =>
    count === 0
      ? null
      : `${count === 1 ? '1 e-mail' : `${count} e-mails`} may be with a provider, which says so within 72 hours; erase again after that.`,
];

export const eraseCommands = [
  command({
    name: 'erase',
    about: 'Erases what is stored about one phone number or e-mail address, but for opt-outs.',
    options: {
      number: optional('--number <NUMBER>', 'the number, E.164 or 9 digits (Polish)', phoneNumber),
      email: optional('--email <ADDRESS>', 'or the e-mail address', address),
      account: onlyAccount,
      yes,
    },
    async ask(asking, { number, email, account = null, yes: agreed }) {
      if ((number === undefined) === (email === undefined)) throw refused('Give either --number or --email.');
      const { erase, eraseAddress } = await import('../operations/support/erase.ts');
      const { traces, done } =
        number === undefined
          ? await eraseAddress({ ...asking, input: { address: addressKey(email!), account, agreed } })
          : await erase({ ...asking, input: { msisdn: number, account, agreed } });
      if (done === null) return shown({ erased: false, ...traces }, NOTHING_DONE);
      return shown({ erased: true, ...traces, ...done }, ...LEFT.map((remark) => remark(done)));
    },
  }),
  command({
    name: 'secrets rotate',
    about: 'Encrypts all stored secrets with another SECRETS_KEY. Stop API and workers first.',
    options: {
      newKey: required('--new-key <FILE|-|env:NAME>', 'where it is read from: 32 bytes in base64', text),
    },
    async ask(asking, values, tools) {
      const typed = (await tools.read('--new-key', values.newKey)).trim();
      if (!KEY.test(typed)) throw invalidArgument('--new-key', 'must hold 32 bytes in base64');
      const changed = await rotateSecrets({ ...asking, input: { newKey: Buffer.from(typed, 'base64') } });
      return shown(changed, 'API and workers need the new key from now on, as SECRETS_KEY or secrets.key.');
    },
  }),
];
