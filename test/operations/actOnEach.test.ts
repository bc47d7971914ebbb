import { expect, test } from 'vitest';
import { actOnEach } from '../../operations/staff.ts';

const done = (id: string) => Promise.resolve({ carriedOut: true as const, record: { subject: id } });

test('each of several acted on at once is recorded right after it, however long another takes', async () => {
  const recorded: string[] = [];
  const record = ({ subject = '' }) => Promise.resolve(void recorded.push(subject));
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => (finish = resolve));
  const acting = actOnEach(
    ['a', 'b', 'c', 'd'],
    record,
    (id) => (id === 'a' ? slow.then(() => done(id)) : done(id)),
    3,
  );
  await expect.poll(() => recorded).toEqual(['b', 'c']);
  finish();
  expect(await acting).toEqual(['a', 'b', 'c', 'd'].map((id) => ({ id, carriedOut: true, why: null })));
  expect(recorded).toEqual(['b', 'c', 'a', 'd']);
});

test('one that cannot be recorded keeps none at once with it from being recorded, and ends all', async () => {
  const recorded: string[] = [];
  const record = ({ subject = '' }) =>
    subject === 'a'
      ? Promise.reject(new Error('not recorded'))
      : Promise.resolve(void recorded.push(subject));
  await expect(actOnEach(['a', 'b', 'c'], record, done, 2)).rejects.toThrow('not recorded');
  expect(recorded).toEqual(['b']);
});

test('an error of one leaves what comes after those at once with it', async () => {
  const record = () => Promise.resolve();
  const act = (id: string) => (id === 'a' ? Promise.reject(new Error('away')) : done(id));
  expect(await actOnEach(['a', 'b', 'c'], record, act, 2)).toEqual([
    { id: 'a', carriedOut: false, why: new Error('away') },
    { id: 'b', carriedOut: true, why: null },
    { id: 'c', carriedOut: false, why: 'not_tried' },
  ]);
});
