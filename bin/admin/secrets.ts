import { rotateSecrets } from '../../operations/support/rotateSecrets.ts';
import { command, required, type Shown } from './command.ts';
import { invalidArgument } from './problems.ts';
import { text } from './values.ts';

// 32 bytes in base64.
const KEY = /^[A-Za-z0-9+/]{43}=$/;

const rotate = command({
  name: 'secrets rotate',
  about:
    'Encrypts all stored secrets with another key. Stop API and workers first; start them with the new SECRETS_KEY.',
  options: {
    newKey: required('FILE|-|env:NAME', 'where the new key is read from: 32 bytes in base64', text),
  },
  async ask(asking, values, tools): Promise<Shown> {
    const typed = (await tools.read('--new-key', values.newKey)).trim();
    if (!KEY.test(typed)) throw invalidArgument('--new-key', 'must hold 32 bytes in base64');
    const changed = await rotateSecrets({ ...asking, input: { newKey: Buffer.from(typed, 'base64') } });
    return {
      result: { ...changed },
      remark: 'API and workers need the new SECRETS_KEY (or DATA_DIR/secrets.key) from now on.',
    };
  },
});

export const secretCommands = [rotate];
