import { describe, expect, test } from 'vitest';
import {
  customColumn,
  customKeyOf,
  isContactColumn,
  joinedNames,
  splitNames,
} from '../../domain/contacts.ts';

const OWN = ['msisdn', 'first_name', 'last_name', 'email', 'groups'];

describe('columns of a table of contacts', () => {
  test.each(OWN)('%s is a contact’s own, and a custom field called like it has a prefix', (name) => {
    expect(isContactColumn(name)).toBe(true);
    expect(customColumn(name)).toBe(`fields.${name}`);
    expect(customColumn(name.toUpperCase())).toBe(`fields.${name.toUpperCase()}`);
  });

  test.each(['miasto', 'Miasto', 'e_mail', 'fields', 'id'])(
    'any other custom field has its own name: %s',
    (key) => {
      expect(isContactColumn(key)).toBe(false);
      expect(customColumn(key)).toBe(key);
    },
  );

  test.each([
    ['miasto', 'miasto'],
    ['fields.email', 'email'],
    ['fields.Groups', 'Groups'],
    ['fields.miasto', 'miasto'],
    ['fields', 'fields'],
    ['miasto_fields.', 'miasto_fields.'],
  ])('the column %s is the custom field %s', (column, key) => {
    expect(customKeyOf(column)).toBe(key);
  });

  test('a custom field comes back from its column', () => {
    for (const key of [...OWN, 'Email', 'miasto']) expect(customKeyOf(customColumn(key))).toBe(key);
  });
});

describe('a cell of groups', () => {
  test.each([
    ['', []],
    ['VIP', ['VIP']],
    [' VIP | Stali klienci\t|', ['VIP', 'Stali klienci']],
    [' | |', []],
    ['A\\|B|C', ['A|B', 'C']],
    ['A\\\\|B', ['A\\', 'B']],
    // Typed by somebody who knows of no escapes: it stands for itself.
    ['C:\\Klienci|D\\', ['C:\\Klienci', 'D\\']],
    ['🙂|ż', ['🙂', 'ż']],
  ])('%j has the names %j', (cell, names) => {
    expect(splitNames(cell)).toEqual(names);
  });

  test('has bars between names, and a backslash before each bar and backslash within one', () => {
    expect(joinedNames(['VIP', 'A|B', 'C\\D'])).toBe('VIP|A\\|B|C\\\\D');
    expect(joinedNames([])).toBe('');
  });
});
