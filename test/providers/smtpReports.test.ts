import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENDLESS, filled, GROUP, read, withFailed } from '../smtp/returned.ts';

describe('an address in a field', () => {
  // As it stood here before: it takes time by the square of what has no @ in it.
  const ADDRESS = /[^\s<>,;:"]+@[^\s<>,;:"]+/;
  const ends = fc.constantFrom(...'<>,;:"');
  const blanks = fc.constantFrom(' ', '\t', '\xa0');
  const letters = fc.constantFrom('a', 'b.c', '\xe9', '-', "'", '(', '=');
  const text = fc
    .array(fc.oneof(letters, fc.constant('@'), ends, blanks), { maxLength: 30 })
    .map((pieces) => pieces.join(''));

  it('is the first word with an @ in it that is neither its beginning nor its end', () => {
    fc.assert(
      fc.property(text, (given) => {
        const [event] = read(withFailed(`x${given}`));
        const expected = `x${given}`
          .trim()
          .split(',')
          .flatMap((one) => ADDRESS.exec(one)?.[0] ?? []);
        expect(event!.addresses).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['jan@x.example', ['jan@x.example']],
    ['Jan <jan@x.example>', ['jan@x.example']],
    ['"@" <jan@x.example>', ['jan@x.example']],
    ['@ a@ @b a@b c@d', ['a@b']],
    ['@@@', ['@@@']],
    ['@@ jan', []],
    ['a@b@', ['a@b@']],
  ])('%s has %j', (given, addresses) => {
    expect(read(withFailed(given))).toMatchObject([{ addresses }]);
  });
});

describe('what somebody wrote to hold a worker up', () => {
  it.each(ENDLESS)('%s is read, and no more of it is kept than of others', (_, raw, events, addresses) => {
    const found = read(raw);
    expect(found).toHaveLength(events);
    expect(found.flatMap((event) => event.addresses)).toHaveLength(addresses);
  });

  it('of a name in each report of many takes no work for each', () => {
    const [event] = read(filled(`${GROUP}Reporting-MTA: ${'x'.repeat(200_000)}\n\n`, 'Action: failed\n\n'));
    expect(event).toMatchObject({ kind: 'bounced', payload: { 'reporting-mta': 'x'.repeat(1_000) } });
  });
});
