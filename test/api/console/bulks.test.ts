import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { until } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';

let opened: ConsoleUnderTest;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(() => opened.api.stop());

async function openFinding(): Promise<string> {
  const [row] = await database()<{ id: number }[]>`
    insert into findings (kind, subject, state) values ('budget_used', ${newId('req')}, 'open') returning id`;
  return String(row!.id);
}

const bulksOf = (actor: string) => database()<{ id: string }[]>`select id from bulks where actor = ${actor}`;

it('acts on what is ticked in a list, after it has told what it would do and why it shall is known', async () => {
  const { browser, name } = await newStaff(opened, 'support');
  const [one, other] = [await openFinding(), await openFinding()];
  const ticked = { action: 'dismiss', [one]: 'on', [other]: 'on' };
  const told = await browser.post('/console/bulks/new', ticked);
  expect(told.text).toContain('What it would do');
  expect(told.text).toContain(`name="id" value="${one},${other}"`);
  expect((await browser.post('/console/bulks/new', { action: 'dismiss' })).status).toBe(400);
  expect(await bulksOf(name)).toHaveLength(0);

  const confirmed = { action: 'dismiss', id: `${one},${other}`, confirmed: 'yes', reason: 'Zgłoszenie 9' };
  const done = await browser.post('/console/commands/bulks.start', confirmed);
  const [bulk, ...more] = await bulksOf(name);
  expect(more).toEqual([]);
  const page = `/console/bulks/${bulk!.id}`;
  expect(done.text).toContain(`href="${page}"`);
  await until('it ends', async () => (await browser.get(page)).text.includes('2 of 2: 2 done'));
  expect((await browser.get(page)).text).toContain('Zgłoszenie 9');
  expect((await browser.get('/console/bulks')).text).toContain(page);
  const [head, ...lines] = (await browser.get(`${page}/items`)).text.trim().split('\n');
  expect(head).toBe('item,outcome,at,why');
  expect(lines.map((line) => line.split(',').slice(0, 2))).toEqual([one, other].map((id) => [id, 'done']));
  const records = await database()`
    select details from audit_log where action = 'findings dismiss' and details->>'bulk' = ${bulk!.id}`;
  expect(records).toMatchObject([1, 2].map(() => ({ details: { reason: 'Zgłoszenie 9' } })));
});

it('is read by every role, and started by those who may', async () => {
  const { browser } = await newStaff(opened, 'finance');
  expect((await browser.get('/console/bulks')).status).toBe(200);
  expect((await browser.post('/console/bulks/new', { action: 'dismiss', all: 'yes' })).status).toBe(403);
  for (const path of ['', '/items'])
    expect((await browser.get(`/console/bulks/${newId('bulk')}${path}`)).status).toBe(404);
});
