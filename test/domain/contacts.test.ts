import { describe, expect, test } from 'vitest';
import { changedContact, isMeantAsGroupId, EMPTY_CONTACT } from '../../domain/contacts.ts';

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

  test('takes 20 custom fields and no more', () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`pole${i}`, 'x']));
    expect(Object.keys(changedContact(EMPTY_CONTACT, { fields: fields(20) })?.fields ?? {})).toHaveLength(20);
    expect(changedContact(EMPTY_CONTACT, { fields: fields(21) })).toBeNull();
    expect(changedContact(ANNA, { fields: fields(20) })).toBeNull();
  });

  test('a contact that nobody has said anything of has nothing', () => {
    expect(EMPTY_CONTACT).toEqual({ firstName: null, lastName: null, email: null, fields: {} });
  });
});

const BODY = '0123456789abcdefghjkmnpqrs';

test('whoever begins a name like an id of a group means one', () => {
  expect(['gr_', 'GR_klienci', `gr_${BODY}`].map(isMeantAsGroupId)).toEqual([true, true, true]);
  expect(['Klienci', ' gr_', 'xgr_'].map(isMeantAsGroupId)).toEqual([false, false, false]);
});
