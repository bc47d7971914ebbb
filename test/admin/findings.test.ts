import { describe, expect, test } from 'vitest';
import { recordRepair, reportFinding } from '../../db/maintenance/findings.ts';
import { newId } from '../../db/ids.ts';
import { commandLine, listIn, ownDatabase } from './support.ts';

const database = ownDatabase();
const { ok, no } = commandLine(database.url);

describe('findings list', () => {
  test('shows what is open, or what was repaired, of one account or all', async () => {
    const [one, other] = [await database.account(), await database.account()];
    const subject = newId('msg');
    const open = { kind: 'workflow_ended', subject, accountId: one, details: { status: 'sent' } } as const;
    const repaired = { kind: 'workflow_lost', subject, accountId: one, details: {} } as const;
    expect(await reportFinding(database.sql(), open)).toBe(true);
    expect(await reportFinding(database.sql(), open), 'known').toBe(false);
    await recordRepair(database.sql(), 'workflow started again', repaired);
    expect(listIn(await ok('findings', 'list', '--account', one))).toMatchObject([
      { kind: 'workflow_ended', subject, account_id: one, state: 'open', details: { status: 'sent' } },
    ]);
    const all = listIn(await ok('findings', 'list', '--state', 'all', '--account', one));
    expect(all.map(({ kind }) => kind).sort()).toEqual(['workflow_ended', 'workflow_lost']);
    expect(listIn(await ok('findings', 'list', '--account', other))).toEqual([]);
    expect((await no('findings', 'list', '--state', 'closed')).code).toBe('invalid_argument');
    expect((await no('findings', 'list', '--account', 'cl_none')).code).toBe('not_found');
  });
});

describe('findings dismiss', () => {
  test('closes a finding and is recorded; found again, it is open again', async () => {
    const owner = await database.account();
    const subject = newId('msg');
    const finding = { kind: 'workflow_ended', subject, accountId: owner, details: {} } as const;
    await reportFinding(database.sql(), finding);
    const [listed] = listIn(await ok('findings', 'list', '--account', owner));
    const id = String(listed!['id']);
    expect(await ok('findings', 'dismiss', '--id', id)).toMatchObject({ subject, state: 'gone' });
    expect(listIn(await ok('findings', 'list', '--account', owner))).toEqual([]);
    expect(listIn(await ok('audit', '--account', owner))).toMatchObject([
      { action: 'findings list' },
      { action: 'findings dismiss', subject, details: { kind: 'workflow_ended' } },
      { action: 'findings list' },
    ]);
    expect(await reportFinding(database.sql(), finding)).toBe(true);
    expect((await no('findings', 'dismiss', '--id', '999999')).code).toBe('not_found');
  });
});
