import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from '../../bin/shell.ts';

test('a plain path stays as it is', () => {
  expect(shellWord('/srv/goniec-2/.data')).toBe('/srv/goniec-2/.data');
});

test.each(['/srv/data', '/srv/my data', '/srv/it\'s $HOME `id` "x" \\n', '/srv/żółw', '*', '~/x', ''])(
  'a shell reads %j back as it was',
  (text) => {
    const line = `DATA_DIR=${shellWord(text)} sh -c 'printf %s "$DATA_DIR"'`;
    expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(text);
  },
);
