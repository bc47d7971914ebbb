import { expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { idPattern, type IdPrefix, isId, prefixOf } from '../../domain/ids.ts';

const BODY = '0123456789abcdefghjkmnpqrs';

// The prefixes of v2.3.0, Resources and their fields.
const SPECIFIED: IdPrefix[] = ['msg', 'tpl', 'ct', 'gr', 'in', 'evt', 'req', 'cl'];

test.each(SPECIFIED)('an id has its prefix and 26 characters: %s', (prefix) => {
  for (const right of [`${prefix}_${BODY}`, newId(prefix)]) {
    expect(isId(prefix, right)).toBe(true);
    expect(right).toMatch(idPattern(prefix));
  }
  for (const wrong of [
    ...[`x${prefix}_${BODY}`, `${prefix}_${BODY}x`, `${prefix}_${BODY.slice(1)}`, BODY, ''],
    ...[`${prefix}_${BODY.slice(1)}A`, `${prefix}_${BODY}\n`, `${prefix.toUpperCase()}_${BODY}`],
  ]) {
    expect(isId(prefix, wrong), wrong).toBe(false);
    expect(wrong).not.toMatch(idPattern(prefix));
  }
});

test('an id of one kind is none of another', () => {
  for (const prefix of SPECIFIED) {
    for (const other of SPECIFIED) {
      expect(isId(other, `${prefix}_${BODY}`)).toBe(other === prefix);
      expect(idPattern(other).test(`${prefix}_${BODY}`)).toBe(other === prefix);
    }
  }
});

test('a text names its kind by its prefix, or none', () => {
  expect(prefixOf(`msg_${BODY}`)).toBe('msg');
  expect(prefixOf(`zz_${BODY}`)).toBe('zz');
  for (const none of ['', 'msg', `msg-${BODY}`, `_${BODY}`, `msg_${BODY.slice(2)}`]) {
    expect(prefixOf(none)).toBeNull();
  }
});
