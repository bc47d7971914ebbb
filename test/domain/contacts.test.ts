import { describe, expect, test } from 'vitest';
import { changedContact, isMeantAsGroupId } from '../../domain/contacts.ts';

const ANNA = { firstName: 'Anna', lastName: 'Nowak', email: 'a@example.com', fields: { miasto: 'Kraków' } };

describe('a change of a contact', () => {
  test('leaves what it does not name', () => {
    expect(changedContact(ANNA, {})).toEqual(ANNA);
  });

  test.each([
    ['first_name', 'firstName'],
    ['last_name', 'lastName'],
    ['email', 'email'],
  ] as const)('%s: sets it, and null clears it', (name, field) => {
    expect(changedContact(ANNA, { [name]: 'Inne' })).toEqual({ ...ANNA, [field]: 'Inne' });
    expect(changedContact(ANNA, { [name]: null })).toEqual({ ...ANNA, [field]: null });
  });

  test('merges custom fields; null removes all', () => {
    expect(changedContact(ANNA, { fields: { rok: '2026' } })?.fields).toEqual({
      miasto: 'Kraków',
      rok: '2026',
    });
    expect(changedContact(ANNA, { fields: null })?.fields).toEqual({});
  });
});

test('a name that begins like an id of a group is one', () => {
  expect(['gr_', 'GR_klienci', 'gr_0123456789'].map(isMeantAsGroupId)).toEqual([true, true, true]);
  expect(['Klienci', ' gr_', 'xgr_'].map(isMeantAsGroupId)).toEqual([false, false, false]);
});
