import { changeKeyFingerprint, reencryptSecrets } from '../../db/accounts/storedSecrets.ts';
import { DecryptionError } from '../../db/encryption.ts';
import { keyFingerprint } from '../secrets.ts';
import { command, required, type Outcome } from './command.ts';
import { invalidArgument, refused } from './problems.ts';
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
  async run(sql, { newKey }, tools): Promise<Outcome> {
    const given = (await tools.read('--new-key', newKey)).trim();
    if (!KEY.test(given)) throw invalidArgument('--new-key', 'must hold 32 bytes in base64');
    const to = Buffer.from(given, 'base64');
    const from = await tools.secretsKey();
    if (to.equals(from)) throw refused('This is the key that is in use.');
    try {
      const changed = await reencryptSecrets(sql, from, to);
      await changeKeyFingerprint(sql, keyFingerprint(to));
      return {
        result: { ...changed },
        details: { ...changed },
        remark: 'API and workers need the new SECRETS_KEY (or DATA_DIR/secrets.key) from now on.',
      };
    } catch (error) {
      if (error instanceof DecryptionError)
        throw refused('A stored secret cannot be read with the key in use; nothing was changed.');
      throw error;
    }
  },
});

export const secretCommands = [rotate];
