import { expect, test } from 'vitest';
import { createQuickLane } from '../../pipeline/quickLane.ts';

const QUICK = { ms: 10, well: true };
const lane = () => createQuickLane({ quickMs: 500, places: 3, placesEach: 2 });

test('only those known to be quick get a place', () => {
  const quick = lane();
  expect(quick.tryAcquire('a')).toBeNull();
  quick.record('a', QUICK);
  expect(quick.tryAcquire('a')).not.toBeNull();
  expect(quick.tryAcquire('b')).toBeNull();
});

test.each([
  ['slow', { ms: 501, well: true }],
  ['failed', { ms: 10, well: false }],
])('one that was %s goes the other way until it is quick again', (_, took) => {
  const quick = lane();
  quick.record('a', QUICK);
  const leave = quick.tryAcquire('a')!;
  quick.record('a', took);
  leave();
  expect(quick.tryAcquire('a')).toBeNull();
  quick.record('a', QUICK);
  expect(quick.tryAcquire('a')).not.toBeNull();
});

test('there are so many places for each, and so many in all; a place given back is free', () => {
  const quick = lane();
  for (const key of ['a', 'b']) quick.record(key, QUICK);
  const leave = quick.tryAcquire('a')!;
  expect(quick.tryAcquire('a')).not.toBeNull();
  expect(quick.tryAcquire('a')).toBeNull();
  expect(quick.tryAcquire('b')).not.toBeNull();
  expect(quick.tryAcquire('b')).toBeNull();
  leave();
  expect(quick.tryAcquire('b')).not.toBeNull();
});

test('a key may have fewer places than others', () => {
  const quick = lane();
  quick.record('a', QUICK);
  const leave = quick.tryAcquire('a', 1)!;
  expect(quick.tryAcquire('a', 1)).toBeNull();
  leave();
  expect(quick.tryAcquire('a', 1)).not.toBeNull();
});

test('places are kept while a key is learned anew', () => {
  const quick = lane();
  quick.record('a', QUICK);
  const held = [quick.tryAcquire('a')!, quick.tryAcquire('a')!];
  quick.record('a', QUICK);
  expect(quick.tryAcquire('a')).toBeNull();
  // Forgotten for being slow and learned again, with both places still held.
  quick.record('a', { ms: 9_000, well: true });
  quick.record('a', QUICK);
  expect(quick.tryAcquire('a')).toBeNull();
  for (const leave of held) leave();
  expect(quick.tryAcquire('a')).not.toBeNull();
});
