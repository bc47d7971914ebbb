import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findTemporal } from '../../dev/temporalProgram.ts';
import { eventually } from '../support/eventually.ts';
import {
  type Outcome,
  outcomes,
  type Product,
  type ProductAccount,
  startProduct,
} from '../support/product.ts';
import { environmentOf } from '../support/service.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';

const HOUR = 3_600_000;
const page = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
const runbooks = new Map(
  page
    .split('\n## ')
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block),
    ]),
);

let product: Product;
let account: ProductAccount;
let receiver: WebhookReceiver;
/** A folder with the command `temporal` in it, whatever the binary's own file is called. */
let commands: string;

beforeAll(async () => {
  commands = mkdtempSync(join(tmpdir(), 'goniec-commands-'));
  const temporal = await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: console.log });
  symlinkSync(temporal, join(commands, 'temporal'));
  product = await startProduct(1);
  receiver = await startReceiver((call) => (call <= 3 ? 500 : 200));
  account = await product.account({ url: receiver.url, secret: 'whsec_test' });
  receiver.useSecret('whsec_test');
});
afterAll(async () => {
  await product?.stop();
  await receiver?.close();
  rmSync(commands, { recursive: true, force: true });
});

/** Runs the blocks of a runbook as an operator would, or one of them, counted from 0; returns what they printed. */
async function follow(runbook: string, names: Record<string, string> = {}, block?: number): Promise<string> {
  const all = runbooks.get(runbook) ?? [];
  const blocks = block === undefined ? all : all.slice(block, block + 1);
  if (blocks.length === 0) throw new Error(`no runbook ${runbook}, or no such block of it`);
  const env = {
    ...environmentOf(product.service),
    PATH: `${commands}:${process.env['PATH']}`,
    ACCOUNT: account.id,
    ...names,
  };
  let printed = '';
  for (const block of blocks) {
    printed += await new Promise<string>((resolve, reject) => {
      execFile('bash', ['--norc', '-euc', block], { env, timeout: 120_000 }, (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`${block}\n${out}\n${err}`)),
      );
    });
  }
  return printed;
}

async function send(to: string, more: object = {}): Promise<string> {
  const { status, body } = await account.api.send({ to, text: 'Dzień dobry', ...more });
  expect(status).toBeLessThan(300);
  return (body as { id: string }).id;
}

const untilAll = (holds: (all: Outcome[]) => boolean): Promise<Outcome[]> =>
  eventually(() => outcomes(product.sql, account.id), holds);

const submits = async (id: string): Promise<number> => {
  const [row] = await product.sql<{ n: number }[]>`
    select count(*)::int as n from simulator_submits where reference like ${id + '/%'}`;
  return row!.n;
};

test('every runbook is followed here', () => {
  expect([...runbooks.keys()]).toEqual([
    'Cancel many',
    'Submit or notify again, many',
    'Reset safely',
    'Drain a route',
    'Change keys',
    'Restore a backup',
    'Upgrade',
  ]);
});

test.each([
  ['by the command line', 0, /would_cancel\s+2[\s\S]*cancelled\s+2/],
  ['by Temporal alone', 1, /Total: 2/],
])('Cancel many, %s', async (_how, block, answer) => {
  const sendAt = new Date(Date.now() + HOUR).toISOString();
  await send('+48500100200', { send_at: sendAt });
  await send('+48500100201', { send_at: sendAt });
  await eventually(
    () => follow('Upgrade'),
    (printed) => /Total: 2/.test(printed),
  );
  expect(await follow('Cancel many', {}, block)).toMatch(answer);
  const all = await untilAll((found) => found.every(({ status }) => status === 'cancelled'));
  expect(all.every(({ refunds }) => refunds === 1)).toBe(true);
});

test('Reset safely: nothing is charged, submitted or told twice', async () => {
  const id = await send('+48500100903');
  await untilAll((found) => found.some((one) => one.id === id && one.status === 'sent'));
  await eventually(
    () => product.sql`select from webhook_events where subject_id = ${id} and exhausted_at is not null`,
    ({ length }) => length === 1,
  );
  const told = receiver.calls.length;
  const { temporalAddress: address, temporalNamespace: namespace } = product.service;
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection, namespace });
  // Shown after a minute.
  await eventually(
    () => workflow.count(`WorkflowId = '${id}' AND MessageStatus = 'sent'`),
    ({ count }) => count === 1,
  );
  await connection.close();
  const printed = await follow('Reset safely', { MESSAGE: id });
  expect(printed).toContain('RunId');
  await eventually(
    () => product.admin(['messages', 'show', id]),
    (shown) => JSON.stringify(shown).includes('waits for the delivery report'),
  );
  const one = (await outcomes(product.sql, account.id)).find((found) => found.id === id);
  expect(one).toMatchObject({ status: 'sent', charges: 1, refunds: 0 });
  expect(await submits(id)).toBe(1);
  expect(receiver.calls.length).toBe(told);
});

test('Submit or notify again, many', async () => {
  const told = receiver.calls.length;
  await follow('Submit or notify again, many', { ROUTE: 'simulator' });
  await receiver.until(({ length }) => length > told);
});

test('Drain a route', async () => {
  await product.admin(['routes', 'add', '--name', 'spare', '--kind', 'simulator']);
  expect(await follow('Drain a route', { ROUTE: 'spare' })).toContain('disabled');
});

test('Restore a backup: the schedule is paused and goes on', async () => {
  expect(await follow('Restore a backup')).not.toContain('error');
  await eventually(
    () => product.sql`select from maintenance_positions`,
    ({ length }) => length > 0,
  );
});

// Last: the processes that run have the old key.
test('Change keys', async () => {
  // It never overwrites a key, and leaves the one that it made where it ran.
  rmSync('new.key', { force: true });
  const printed = await follow('Change keys').finally(() => rmSync('new.key', { force: true }));
  expect(printed).toContain('webhooks');
  await expect(product.admin(['routes', 'list'])).resolves.toBeDefined();
  // What was left running with the former key ends.
  await eventually(
    () =>
      account.api.get('/v1/health').then(
        () => true,
        () => false,
      ),
    (answers) => !answers,
  );
});
