import { text, ULID, type FieldTexts, type OwnedTexts } from './text.ts';

const CONTACT: FieldTexts = {
  id: text('The id.', `ct_${ULID}`),
  msisdn: text('The number; one contact of the account has it.', '+48500100200'),
  fields: text(
    'Custom fields, up to 20. A key begins with a letter or underscore, then up to 30 letters, digits or underscores; a value has up to 200 characters. Each fills `{{key}}`.',
    { miasto: 'Kraków' },
  ),
  groups: text('The groups that the contact is in.', [{ id: `gr_${ULID}`, name: 'Klienci' }]),
};

const CONTACT_INPUT: FieldTexts = {
  msisdn: text('The number: by it a contact is found or created.', '+48500100200'),
  fields: text('Custom fields to set; null or an empty text removes one.', { miasto: 'Kraków' }),
  groups: text('Names or ids of the groups it is in from now on; unknown names are created.', ['Klienci']),
};

/** Fields of contacts, groups and the blacklist. */
export const addressBookTexts: OwnedTexts = {
  Contact: CONTACT,
  'Contact.groups': { id: text('The id.', `gr_${ULID}`), name: text('The name.', 'Klienci') },
  ContactInput: CONTACT_INPUT,
  saveContacts: {
    ...CONTACT_INPUT,
    created: text('Contacts that are new.', 1),
    updated: text('Contacts that were known.', 0),
    invalid: text('Elements that were left out.', []),
  },
  'saveContacts.invalid': {
    index: text('Its place in the array, from 0.', 0),
    message: text('What is wrong with it, in Polish.', 'Pole „msisdn” ma nieprawidłową wartość.'),
  },
  changeContact: { ...CONTACT_INPUT, msisdn: text('Another number for the contact.', '+48500100200') },
  listContacts: {
    q: text(
      'Words, at most 10, in any order: each is looked for as a fragment of the number, first name, last name or email. Groups of digits side by side are one number.',
      'jan kowalski',
    ),
    group_id: text('Only contacts of this group.', `gr_${ULID}`),
  },
  Group: {
    id: text('The id.', `gr_${ULID}`),
    name: text('The name: up to 80 characters, unique whatever its case.', 'Klienci'),
    members: text('How many contacts are in it.', 2),
  },
  addGroupContacts: {
    contact_ids: text(
      'Ids of contacts; those that are not of the account are skipped and listed in `invalid`.',
      [`ct_${ULID}`],
    ),
    msisdns: text('Numbers; unknown ones become contacts without a name.', ['+48500100200']),
    added: text('Contacts that were not in the group before.', 2),
    invalid: text('The numbers that are malformed.', []),
    members: text('How many contacts are in the group now.', 2),
  },
  removeGroupContact: {
    contactId: text('The id of the contact.', `ct_${ULID}`),
    removed: text('The id of the contact.', `ct_${ULID}`),
  },
  BlacklistEntry: {
    reason: text('`opt_out`, `manual` or free text.', 'manual'),
    expires_at: text('When it ends; null means never.', null),
  },
  addToBlacklist: {
    msisdn: text('One number; instead of `msisdns`.', '+48500100200'),
    msisdns: text('Up to 1000 numbers; instead of `msisdn`.', ['+48500100200']),
    reason: text('Why; `manual` unless told.', 'reklamacja'),
    expires_at: text('When the entries end, in the future; null or left out means never.', null),
    added: text('Numbers that are on the list now.', 1),
    invalid: text('The numbers that are malformed.', []),
  },
  removeFromBlacklist: { removed: text('The number.', '+48500100200') },
};
