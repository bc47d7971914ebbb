import type { ContactRow } from '../../db/contacts/contacts.ts';
import { idPattern } from '../../domain/ids.ts';
import { z } from 'zod';

/** A contact's id in a path. */
export const contactId = z.string().regex(idPattern('ct'));

/** Presents a stored contact (v2.3.0, Contact): instants as ISO 8601 in UTC. */
export function contactRecord(row: ContactRow) {
  return {
    id: row.id,
    msisdn: row.msisdn,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    fields: row.fields,
    groups: row.groups,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
