import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparableInstant, parseInstant } from '../../domain/calendar.ts';

const formatInstant = (epochMs: number) => new Date(epochMs).toISOString();
const RUNS = { seed: 8601, numRuns: 200 };

test.each([
  ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21T10:00Z', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21T10:00:00.5Z', '2026-11-21T10:00:00.500Z'],
  ['2026-11-21T10:00:00,25Z', '2026-11-21T10:00:00.250Z'],
  ['2026-11-21T10:00:00.123456789Z', '2026-11-21T10:00:00.123Z'],
  ['2026-11-21T10:00:00+0100', '2026-11-21T09:00:00.000Z'],
  ['2026-11-21T10:00+01', '2026-11-21T09:00:00.000Z'],
  ['2026-11-21T10:00:00-05:30', '2026-11-21T15:30:00.000Z'],
  ['2026-11-21T00:30:00+18:00', '2026-11-20T06:30:00.000Z'],
  ['2026-11-21T10:00:00-00:00', '2026-11-21T10:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
])('%s is %s', (input, expected) => {
  const epochMs = parseInstant(input);
  expect(epochMs === null ? null : formatInstant(epochMs)).toBe(expected);
});

test.each([
  '',
  '2026-11-21',
  '2026-11-21T10:00:00',
  '2026-11-21 10:00:00Z',
  '2026-11-21T10Z',
  '2026-11-21T10:00:00.Z',
  '2026-11-21T10:00:00.1234567890Z',
  '2026-11-21T10:00.5Z',
  '2026-02-29T10:00:00Z',
  '2026-13-01T10:00:00Z',
  '2026-01-00T10:00:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T10:60:00Z',
  '2026-11-21T10:00:60Z',
  '2026-11-21T10:00:00+18:01',
  '2026-11-21T10:00:00+01:60',
  '2026-11-21T10:00:00+1',
  '2026-11-21T10:00:00+01:00:00',
  '+002026-11-21T10:00:00Z',
  '2026-11-21T10:00:00Z\n',
  ' 2026-11-21T10:00:00Z',
  '٢٠٢٦-11-21T10:00:00Z',
])('%j is refused', (input) => {
  expect(parseInstant(input)).toBeNull();
});

const INSTANTS = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2200, 0) });

test('what is written reads back the same', () => {
  fc.assert(
    fc.property(INSTANTS, (epochMs) => {
      expect(parseInstant(formatInstant(epochMs))).toBe(epochMs);
    }),
    RUNS,
  );
});

test('the same moment at any offset is the same instant', () => {
  fc.assert(
    fc.property(INSTANTS, fc.integer({ min: -1080, max: 1080 }), (epochMs, offset) => {
      const local = formatInstant(epochMs + offset * 60_000).slice(0, -1);
      const hours = `${Math.floor(Math.abs(offset) / 60)}`.padStart(2, '0');
      const minutes = `${Math.abs(offset) % 60}`.padStart(2, '0');
      const sign = offset < 0 ? '-' : '+';
      expect(parseInstant(`${local}${sign}${hours}:${minutes}`)).toBe(epochMs);
      expect(parseInstant(`${local}${sign}${hours}${minutes}`)).toBe(epochMs);
    }),
    RUNS,
  );
});

test.each([
  [Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 21)],
  [-1, 0],
  [Date.UTC(-271_000, 0), 0],
  [Date.UTC(9999, 0) + 1, Date.UTC(9999, 0)],
  [8.64e15, Date.UTC(9999, 0)],
])('a database compares with the nearest instant that it reads: %i with %i', (epochMs, compared) => {
  expect(comparableInstant(epochMs)).toBe(compared);
});
