import { z } from 'zod';
import { composed } from '../../domain/composed.ts';
import { GROUP_NAME_MAX, isMeantAsGroupId } from '../../domain/contacts.ts';
import { issue, lineText, notFarBeyond } from '../fields.ts';

// As `lineText`, and not blank.
const SOMETHING_ON_ONE_LINE =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\s][^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/** What names a group: its name, or its id (v2.3.0, Contacts, `groups`). */
export const groupReference = lineText
  .refine(...notFarBeyond(GROUP_NAME_MAX))
  .transform(composed)
  .pipe(z.string().trim().min(1).max(GROUP_NAME_MAX))
  .meta({ minLength: 1, maxLength: GROUP_NAME_MAX, pattern: SOMETHING_ON_ONE_LINE });

/** A group's name: 1 to 80 characters (v2.3.0, Group), nothing that is meant as an id. */
export const groupName = groupReference.refine(
  (value) => !isMeantAsGroupId(value),
  issue({ reason: 'group_name_like_id' }),
);
