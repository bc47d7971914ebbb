import type { ContactRow } from '../../db/contacts/contacts.ts';
import { z } from 'zod';
import { documented, exampleId } from '../documented.ts';
import { createdAt, updatedAt } from '../schemas.ts';

// What these fields mean and how they may look, asked for and answered alike.
export const FIRST_NAME = ['Fills `{{imie}}`.', 'Anna'] as const;
export const LAST_NAME = ['Fills `{{nazwisko}}`.', 'Nowak'] as const;
export const EMAIL = ['Fills `{{email}}`.', 'anna@example.com'] as const;

const membership = z.strictObject({
  id: documented(z.string(), 'The id.', exampleId('gr')),
  name: documented(z.string(), 'The name.', 'Klienci'),
});

/** Contact. */
export const contactSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('ct')),
    msisdn: documented(z.string(), 'The number; one contact of the account has it.', '+48500100200'),
    first_name: documented(z.string().nullable(), ...FIRST_NAME),
    last_name: documented(z.string().nullable(), ...LAST_NAME),
    email: documented(z.string().nullable(), ...EMAIL),
    fields: documented(
      z.record(z.string(), z.string()),
      'Custom fields, up to 20. A key begins with a letter or underscore, then up to 30 letters, digits or underscores; a value has up to 200 characters. Each fills `{{key}}`.',
      { miasto: 'Kraków' },
    ),
    groups: documented(
      z.array(membership),
      'The groups that the contact is in: up to 100, unless it came into more before there was this limit.',
      [{ id: exampleId('gr'), name: 'Klienci' }],
    ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Contact', description: 'A person in the contact book.' });

/** Presents a stored contact (v2.3.0, Contact): instants as ISO 8601 in UTC. */
export function contactRecord(row: ContactRow) {
  return {
    id: row.id,
    msisdn: row.msisdn,
    first_name: row.firstName,
    last_name: row.lastName,
    email: row.email,
    fields: row.fields,
    groups: row.groups,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
