import type { AccountPatch } from '../../db/accounts/staff.ts';
import { emailAddress, maskAddress } from '../../domain/email/address.ts';
import { Refused } from '../../domain/refusals.ts';

/**
 * Settings with a contact address as e-mails have it; those without one, or with none any more, as they are.
 * @throws Refused address_malformed
 */
export function withContactEmail<Settings extends AccountPatch>(settings: Settings): Settings {
  if (typeof settings.contactEmail !== 'string') return settings;
  const contactEmail = emailAddress(settings.contactEmail);
  if (contactEmail === null)
    throw new Refused({ reason: 'address_malformed', field: 'contact_email' }, 'contact_email');
  return { ...settings, contactEmail };
}

/** A setting as the audit log has it, which cannot be erased: of a contact address only where it belongs. */
export function loggable(setting: string, value: unknown): unknown {
  return setting === 'contactEmail' && typeof value === 'string' ? maskAddress(value) : value;
}
