import { expect, test } from 'vitest';
import { pureOutcome } from './pureReport.ts';

const SOURCE = ['export function least(a: number, b: number) {', '  return a < b ? a : b;', '}', ''].join(
  '\n',
);

const mutant = (status: string, replacement: string, start: [number, number], end: [number, number]) => ({
  status,
  replacement,
  location: { start: { line: start[0], column: start[1] }, end: { line: end[0], column: end[1] } },
});
const condition = (status: string, replacement: string) => mutant(status, replacement, [2, 10], [2, 15]);
const reportOf = (...mutants: ReturnType<typeof mutant>[]) => ({
  files: { 'least.ts': { source: SOURCE, mutants } },
});
const LESS_OR_EQUAL = { line: 'return a < b ? a : b;', from: 'a < b', to: 'a <= b' };
const knownTo = (...known: (typeof LESS_OR_EQUAL)[]) => ({ 'least.ts': known });

test('what is killed or times out is caught; what survives or is not covered is not; the rest does not count', () => {
  const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'CompileError', 'Ignored'];
  const report = reportOf(...statuses.map((status, i) => condition(status, `${i}`)));
  expect(pureOutcome(report, {})).toMatchObject({ caught: 2, survived: 2 });
});

test('a survivor that is known needs no look, one that is not is named with its change', () => {
  const report = reportOf(condition('Survived', 'a <= b'), condition('Survived', 'true'));
  expect(pureOutcome(report, knownTo(LESS_OR_EQUAL))).toEqual({
    ...{ caught: 0, survived: 2, outdated: [] },
    unexplained: ['least.ts: return a < b ? a : b;\n  a < b  →  true'],
  });
});

test('what is known to survive and is caught is named', () => {
  const { outdated } = pureOutcome(reportOf(condition('Killed', 'a <= b')), knownTo(LESS_OR_EQUAL));
  expect(outdated).toEqual(['least.ts: return a < b ? a : b;\n  a < b  →  a <= b']);
});

test('the same change twice in one line has to be known twice', () => {
  const report = reportOf(condition('Survived', 'a <= b'), condition('NoCoverage', 'a <= b'));
  expect(pureOutcome(report, knownTo(LESS_OR_EQUAL)).unexplained).toHaveLength(1);
  expect(pureOutcome(report, knownTo(LESS_OR_EQUAL, LESS_OR_EQUAL)).unexplained).toEqual([]);
});

test('a change of several lines is known by all it replaces', () => {
  const body = { line: 'export function least(a: number, b: number) {', to: '{}' };
  const report = reportOf(mutant('NoCoverage', '{}', [1, 45], [3, 2]));
  const from = '{\n  return a < b ? a : b;\n}';
  expect(pureOutcome(report, knownTo({ ...body, from }))).toMatchObject({ unexplained: [], outdated: [] });
  expect(pureOutcome(report, knownTo({ ...body, from: '{' })).unexplained).toHaveLength(1);
});
