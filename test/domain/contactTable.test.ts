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

  test.each(['Miasto', 'fields'])('any other custom field has its own name: %s', (key) => {
    expect(isContactColumn(key)).toBe(false);
    expect(customColumn(key)).toBe(key);
  });

  test.each([
    ['fields.email', 'email'],
    ['fields.Groups', 'Groups'],
    ['fields', 'fields'],
    ['miasto_fields.', 'miasto_fields.'],
  ])('the column %s is the custom field %s', (column, key) => {
    expect(customKeyOf(column)).toBe(key);
  });
});

describe('a cell of groups', () => {
  test.each([
    ['VIP', ['VIP']],
    [' VIP | Stali klienci\t|', ['VIP', 'Stali klienci']],
    [' | |', []],
    ['A\\|B|C', ['A|B', 'C']],
    ['A\\\\|B', ['A\\', 'B']],
    // Typed by somebody who knows of no escapes: it stands for itself.
    ['C:\\Klienci|D\\', ['C:\\Klienci', 'D\\']],
  ])('%j has the names %j', (cell, names) => {
    expect(splitNames(cell)).toEqual(names);
  });

  test('has bars between names, and a backslash before each bar and backslash within one', () => {
    expect(joinedNames(['VIP', 'A|B', 'C\\D'])).toBe('VIP|A\\|B|C\\\\D');
    expect(joinedNames([])).toBe('');
  });
});
