import type { NumberedChange } from '../../domain/contactPlan.ts';
import { IMPORT_MAX } from '../../domain/contacts.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import type { Asked } from '../asked.ts';
import { applyChanges, changeBook } from './changeBook.ts';

/** What an import came to. */
export interface ImportedContacts {
  created: number;
  updated: number;
  /** Elements that were not written, by their place from 0, in order. */
  invalid: { index: number; refusal: Refusal }[];
}

/**
 * Creates and updates up to 500 contacts by their numbers (v2.3.0, Contacts), one after the other; a bad one does not stop the
 *
 * others.
 * @param read how the door reads one of its elements; throws Refused where it says no contact
 * @throws Refused for too many elements, and where all of them together are more than the account may keep
 */
export async function importContacts<Element>(
  { services: { sql }, caller: { accountId }, input: elements }: Asked<readonly Element[]>,
  read: (element: Element) => NumberedChange,
): Promise<ImportedContacts> {
  if (elements.length > IMPORT_MAX) throw new Refused({ reason: 'contacts_too_many', limit: IMPORT_MAX });
  const invalid: ImportedContacts['invalid'] = [];
  const readable: { index: number; contact: NumberedChange }[] = [];
  for (const [index, element] of elements.entries()) {
    const contact = readOne(element, read);
    if (contact instanceof Refused) invalid.push({ index, refusal: contact.refusal });
    else readable.push({ index, contact });
  }
  const changes = readable.map(({ contact }) => contact);
  const imported =
    changes.length === 0
      ? []
      : await changeBook(sql, accountId, async (tx) => (await applyChanges(tx, accountId, changes)).outcomes);
  for (const [position, outcome] of imported.entries()) {
    if (outcome instanceof Refused)
      invalid.push({ index: readable[position]!.index, refusal: outcome.refusal });
  }
  return {
    created: imported.filter((outcome) => outcome === 'created').length,
    updated: imported.filter((outcome) => outcome === 'updated').length,
    invalid: invalid.sort((a, b) => a.index - b.index),
  };
}

function readOne<Element>(
  element: Element,
  read: (element: Element) => NumberedChange,
): NumberedChange | Refused {
  try {
    return read(element);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}
