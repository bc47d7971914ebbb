import { expect, test } from 'vitest';
import { createQuickLane } from '../../pipeline/quickLane.ts';

const QUICK = { ms: 10, well: true };
const lane = () => createQuickLane({ quickMs: 500, places: 3, placesEach: 2 });

test('only those known to be quick get a place', () => {
  const quick = lane();
  expect(quick.enter('a')).toBeNull();
  quick.learn('a', QUICK);
  expect(quick.enter('a')).not.toBeNull();
  expect(quick.enter('b')).toBeNull();
});

test.each([
  ['slow', { ms: 501, well: true }],
  ['failed', { ms: 10, well: false }],
])('one that was %s goes the other way until it is quick again', (_, took) => {
  const quick = lane();
  quick.learn('a', QUICK);
  const leave = quick.enter('a')!;
  quick.learn('a', took);
  leave();
  expect(quick.enter('a')).toBeNull();
  quick.learn('a', QUICK);
  expect(quick.enter('a')).not.toBeNull();
});

test('there are so many places for each, and so many in all; a place given back is free', () => {
  const quick = lane();
  for (const key of ['a', 'b']) quick.learn(key, QUICK);
  const leave = quick.enter('a')!;
  expect(quick.enter('a')).not.toBeNull();
  expect(quick.enter('a')).toBeNull();
  expect(quick.enter('b')).not.toBeNull();
  expect(quick.enter('b')).toBeNull();
  leave();
  expect(quick.enter('b')).not.toBeNull();
});

test('a key may have fewer places than others', () => {
  const quick = lane();
  quick.learn('a', QUICK);
  const leave = quick.enter('a', 1)!;
  expect(quick.enter('a', 1)).toBeNull();
  leave();
  expect(quick.enter('a', 1)).not.toBeNull();
});

test('places are kept while a key is learned anew', () => {
  const quick = lane();
  quick.learn('a', QUICK);
  const held = [quick.enter('a')!, quick.enter('a')!];
  quick.learn('a', QUICK);
  expect(quick.enter('a')).toBeNull();
  // Forgotten for being slow and learned again, with both places still held.
  quick.learn('a', { ms: 9_000, well: true });
  quick.learn('a', QUICK);
  expect(quick.enter('a')).toBeNull();
  for (const leave of held) leave();
  expect(quick.enter('a')).not.toBeNull();
});
