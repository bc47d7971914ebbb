import { ContactRefusedError } from '../../db/contacts/contactChanges.ts';
import type { ContactRefusal } from '../../db/contacts/contactPlan.ts';
import { CUSTOM_FIELDS_MAX } from '../../domain/contactFields.ts';
import { ApiError, invalidRequest, notFound } from '../http/errors.ts';
import { quotaReached, withinQuota } from '../http/quotas.ts';

const PARAMS = {
  contacts: 'msisdn',
  groups: 'groups',
  memberships: 'groups',
  contact_bytes: 'fields',
} as const;

/** The error that a caller gets for a contact that was not written. */
export function refusalError(refusal: ContactRefusal): ApiError {
  switch (refusal.reason) {
    case 'fields_too_many':
      return invalidRequest({ reason: 'fields_too_many', limit: CUSTOM_FIELDS_MAX }, 'fields');
    case 'quota_reached':
      return quotaReached(refusal.quota, refusal.limit, PARAMS[refusal.quota]);
    case 'group_unknown':
      return notFound({ reason: 'group_unknown', group: refusal.group }, 'groups');
    case 'number_taken':
      return new ApiError(409, 'invalid_request', { reason: 'contact_number_taken' }, { param: 'msisdn' });
  }
}

/** Waits for a change of contacts. @throws ApiError when it was refused */
export async function withRefusals<T>(change: Promise<T>): Promise<T> {
  try {
    return await withinQuota(PARAMS, change);
  } catch (error) {
    throw error instanceof ContactRefusedError ? refusalError(error.refusal) : error;
  }
}
