import { expect, it } from 'vitest';
import { ENDLESS, filled, GROUP, multipart, read } from '../smtp/returned.ts';

// The same octets where nobody looks for anything in them.
const idle = (raw: string) =>
  raw.replace('message/delivery-status', 'text/plain').replace('X-Failed-Recipients', 'X-Other-Recipients');

it.each(ENDLESS)('%s is read as quickly as anything of its size', (_, raw) => {
  // One of some pairs shows it, as others use the machine too: what grew with the square took fifty times as long.
  const isQuick = () => durationOf(() => read(raw)) < 10 * durationOf(() => read(idle(raw)));
  expect(Array.from({ length: 15 }, (_unused, i) => i).some(isQuick)).toBe(true);
});

const NESTED = ['a', 'b', 'c', 'd'].map((name) => `${multipart(name)}--${name}\n`).join('');
const LINES = '\n'.repeat(1_000_000);

it.each([
  ['line ends within multiparts', filled(`${NESTED}\n`, '\n')],
  ['borders within multiparts', filled(`${NESTED}\n`, '\n--d')],
  ['folds of a header', filled('a:b\n', ' c\n')],
  ['lines of a report', filled(GROUP, 'a:\n')],
  ['groups of many lines', filled(`${GROUP}a:b\n\n`, `${'a:\n'.repeat(150)}\n`)],
  ['encoded letters', filled('Content-Transfer-Encoding: quoted-printable\n\n', '=41')],
])('a megabyte of %s takes less than to find its lines once', (_, raw) => {
  const isQuick = () => durationOf(() => read(raw)) < durationOf(() => LINES.split(/\r?\n/));
  expect(Array.from({ length: 15 }, (_unused, i) => i).some(isQuick)).toBe(true);
});

function durationOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
