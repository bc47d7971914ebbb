import { changeKeyFingerprint, reencryptSecrets } from '../../db/accounts/storedSecrets.ts';
import { DecryptionError, keyFingerprint } from '../../db/installation.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';

/** Re-encrypts all stored secrets; API and workers must be stopped. @returns counts by kind @throws StaffRefused and changes nothing */
export const rotateSecrets = recorded(
  'secrets rotate',
  async (sql, { newKey }: { newKey: Buffer }, { services: { secretsKey } }) => {
    const key = await secretsKey();
    if (newKey.equals(key)) throw new StaffRefused({ reason: 'secrets_key_unchanged' });
    try {
      const changed = await reencryptSecrets(sql, key, newKey);
      await changeKeyFingerprint(sql, keyFingerprint(newKey));
      return { data: changed, details: { ...changed } };
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new StaffRefused({ reason: 'stored_secret_unreadable' }, undefined, error);
    }
  },
);
