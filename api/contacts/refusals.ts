import { ContactRefusedError } from '../../db/contacts/contactChanges.ts';
import type { ContactRefusal } from '../../db/contacts/contactPlan.ts';
import { CUSTOM_FIELDS_MAX } from '../../domain/contactFields.ts';
import { quotaReached, withinQuota } from '../../operations/quotas.ts';
import { Refused } from '../../domain/refusals.ts';

const PARAMS = {
  contacts: 'msisdn',
  groups: 'groups',
  memberships: 'groups',
  contact_bytes: 'fields',
} as const;

/** Why a contact was not written, as its caller asked for it. */
export function refusalError(refusal: ContactRefusal): Refused {
  switch (refusal.reason) {
    case 'fields_too_many':
      return new Refused({ reason: 'fields_too_many', limit: CUSTOM_FIELDS_MAX }, 'fields');
    case 'quota_reached':
      return quotaReached(refusal.quota, refusal.limit, PARAMS[refusal.quota]);
    case 'group_unknown':
      return new Refused({ reason: 'group_unknown', group: refusal.group }, 'groups');
    case 'number_taken':
      return new Refused({ reason: 'contact_number_taken' }, 'msisdn');
  }
}

/** Waits for a change of contacts. @throws Refused */
export async function withRefusals<T>(change: Promise<T>): Promise<T> {
  try {
    return await withinQuota(PARAMS, change);
  } catch (error) {
    throw error instanceof ContactRefusedError ? refusalError(error.refusal) : error;
  }
}
