import { command, optional, required, type Shown, yes } from './command.ts';
import { readNumber } from './msisdn.ts';
import { accountId, text } from './values.ts';

const erase = command({
  name: 'erase',
  about: 'Erases what is stored about one phone number, on its owner’s request; its blacklist entries stay.',
  options: {
    number: required('NUMBER', 'the number, E.164 or 9 digits (Polish)', text),
    account: optional('ID', 'only of this account', accountId),
    yes,
  },
  async ask(asking, { number, account = null, yes: agreed = false }): Promise<Shown> {
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
    return {
      result: { erased: true, ...traces, cancelled, open_messages: open },
      ...(open > 0
        ? { remark: `${open} messages have not ended yet; they are erased in the night after they have.` }
        : {}),
    };
  },
});

export const eraseCommands = [erase];
