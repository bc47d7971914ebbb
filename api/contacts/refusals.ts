import { ContactRefusedError } from '../../db/contacts/contactChanges.ts';
import type { ContactRefusal } from '../../db/contacts/contactPlan.ts';
import { GROUPS_MAX } from '../../db/contacts/groups.ts';
import { CUSTOM_FIELDS_MAX } from '../../domain/contactFields.ts';
import { ApiError, invalidRequest, notFound } from '../http/errors.ts';

/** The error that a caller gets for a contact that was not written. */
export function refusalError(refusal: ContactRefusal): ApiError {
  switch (refusal.reason) {
    case 'fields_too_many':
      return invalidRequest({ reason: 'fields_too_many', limit: CUSTOM_FIELDS_MAX }, 'fields');
    case 'groups_full':
      return invalidRequest({ reason: 'groups_full', limit: GROUPS_MAX }, 'groups');
    case 'group_unknown':
      return notFound({ reason: 'group_unknown', group: refusal.group }, 'groups');
    case 'number_taken':
      return new ApiError(409, 'invalid_request', { reason: 'contact_number_taken' }, { param: 'msisdn' });
  }
}

/** Waits for a change of one contact. @throws ApiError when it was refused */
export async function withRefusals<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    throw error instanceof ContactRefusedError ? refusalError(error.refusal) : error;
  }
}
