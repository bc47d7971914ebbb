import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { handOverKey, keptKey } from '../../bin/demoKey.ts';
import { dataFolder } from './support.ts';

const KEY = `pk_live_${'a1B2'.repeat(10)}`;

describe('the demo account’s key', () => {
  test('is shown at a terminal, and kept nowhere', () => {
    const folder = dataFolder();
    const { remark, word } = handOverKey(KEY, folder, true);
    expect(remark).toContain(KEY);
    expect(word).toBe(KEY);
    expect(keptKey(folder)).toBeNull();
  });

  test('goes into a file for its owner alone where there is none, which a shell reads as printed', () => {
    const folder = join(dataFolder());
    const { remark, word } = handOverKey(KEY, folder, false);
    expect(remark + word).not.toContain(KEY);
    const path = keptKey(folder)!;
    expect(remark).toContain(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(execFileSync('sh', ['-c', `printf %s "Bearer ${word}"`]).toString()).toBe(`Bearer ${KEY}`);
  });

  test('replaces what lay there, whoever could read that, and follows no link', () => {
    const folder = dataFolder();
    const path = join(folder, 'demo.key');
    writeFileSync(path, 'former', { mode: 0o644 });
    handOverKey(KEY, folder, false);
    expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([0o600, `${KEY}\n`]);
    const other = dataFolder();
    writeFileSync(join(other, 'elsewhere'), 'untouched');
    symlinkSync(join(other, 'elsewhere'), join(other, 'demo.key'));
    handOverKey(KEY, other, false);
    expect(readFileSync(join(other, 'elsewhere'), 'utf8')).toBe('untouched');
  });
});
