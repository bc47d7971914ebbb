import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import pino from 'pino';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newId } from '../../db/ids.ts';
import { newApiToken } from '../../db/accounts/keys.ts';
import { installRuntime } from '../../worker/servers.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { insertDomain } from '../support/email.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, type ProductAccount, startProduct } from '../support/product.ts';
import { spawnProcess } from '../support/service.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { pauseSchedule } from '../workflows/pipeline.ts';
import { submit } from './newcomer.ts';

/** A service with a console, a carrier and a receiver of webhooks that do what a test tells them. */
export interface Desk {
  product: Product;
  client: Client;
  /** Of the console. */
  url: string;
  smsc: Smsc;
  /** Its messages leave by the carrier, and are told to the receiver. */
  account: ProductAccount;
  /** Of the earlier interface. */
  token: string;
  receiver: Told;
  /** One of staff, as the command line has made them. */
  staff: { name: string; address: string; secret: string };
  stop(): Promise<void>;
}

/** A receiver of webhooks. */
interface Told {
  /** What it answers. */
  status: number;
  /** Ids of the events that it took. */
  readonly taken: string[];
}

export const SENDER = 'SKLEP';
const TEMPORAL_UI = 'http://127.0.0.1:8233';

/** Starts everything. */
export async function startDesk(): Promise<Desk> {
  const ends = endings();
  try {
    const product = await startProduct(1);
    ends.add(() => product.stop());
    const { service, sql } = product;
    const smsc = await startSmsc();
    ends.add(() => smsc.stop());
    const told = await startTold();
    ends.add(() => told.close());
    const account = await product.account({ url: told.url, secret: 'whsec_test' });
    const token = await giveToken(product, account);
    const settings = { responseSeconds: 1, enquireLinkSeconds: 1, reconnectMinMs: 50, reconnectMaxMs: 500 };
    await product.route('carrier', smsc, account, { settings, brokenAfterS: 600 });
    const house = await product.account();
    await insertDomain(sql, Buffer.from(service.secretsKey, 'base64'), house.id);
    const opened = await spawnProcess('console', service, {
      OWN_EMAIL_ACCOUNT: house.id,
      TEMPORAL_UI_URL: TEMPORAL_UI,
    });
    ends.add(() => opened.stop());
    const { temporalAddress: address, temporalNamespace: namespace } = service;
    const connection = await Connection.connect({ address });
    ends.add(() => connection.close());
    const client = new Client({ connection, namespace });
    await pauseSchedule(client);
    const who = { name: 'Anna Nowak', address: 'anna.nowak@goniec.example' };
    const added = await product.admin(['staff', 'add', ...optionsOf(who), '--role', 'admin']);
    const staff = { ...who, secret: String(added['totp_secret']) };
    return {
      product,
      client,
      url: opened.url,
      smsc,
      account,
      token,
      ...{ receiver: told.told, staff },
      stop: () => ends.all(),
    };
  } catch (error) {
    await ends.all();
    throw error;
  }
}

const optionsOf = (values: Record<string, string>) =>
  Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);

async function startTold(): Promise<Pick<HttpReceiver, 'url' | 'close'> & { told: Told }> {
  const told = { status: 200, taken: [] as string[] };
  const server = await startHttpReceiver((response, raw) => {
    if (told.status === 200) told.taken.push((JSON.parse(raw.toString()) as { id: string }).id);
    response.writeHead(told.status).end();
  });
  return { url: server.url, close: () => server.close(), told };
}

async function giveToken({ sql }: Product, { id }: ProductAccount): Promise<string> {
  const { key, hash, hint } = newApiToken();
  await sql`
    insert into api_tokens (id, account_id, hash, hint, label) values (${newId('tok')}, ${id}, ${hash}, ${hint}, 'test')`;
  await sql`insert into senders (account_id, name) values (${id}, ${SENDER})`;
  return key;
}

/** Has workers of a bad build take the workflows, until the test is over with them. */
export async function workBadly({ client, product }: Desk, work: () => Promise<void>): Promise<void> {
  installRuntime(pino({ level: 'silent' }));
  const connection = await NativeConnection.connect({ address: product.service.temporalAddress });
  const workflowsPath = fileURLToPath(new URL('badBuild.ts', import.meta.url));
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
  const worker = await Worker.create({
    ...{ connection, namespace: client.options.namespace, taskQueue: MESSAGES_QUEUE },
    workflowBundle: await bundleWorkflowCode({ workflowsPath, logger: quiet }),
  });
  try {
    await worker.runUntil(work);
  } finally {
    await connection.close();
  }
}

/** Types what a customer quotes into the search, which `/` leads to from anywhere. */
export async function search(page: Page, quote: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(quote);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

/** Finds a message by what a customer quotes, and opens it if it is one of several. */
export async function findMessage(page: Page, quote: string, id: string): Promise<void> {
  const path = `/console/messages/${id}`;
  await search(page, quote);
  if (new URL(page.url()).pathname !== path) await follow(page, id);
  expect([quote, new URL(page.url()).pathname]).toEqual([quote, path]);
}

/** Clicks on a link of the page. */
export async function follow(page: Page, name: string): Promise<void> {
  const link = page.locator('main').getByRole('link', { name, exact: true }).first();
  await Promise.all([page.waitForEvent('load'), link.click()]);
}

/** Does what a link of the page offers, for a reason, once it was shown what it would do. */
export async function act(page: Page, name: string, reason: string): Promise<void> {
  await follow(page, name);
  await submit(page, 'Continue');
  await confirm(page, reason);
}

export async function confirm(page: Page, reason: string): Promise<void> {
  await page.getByLabel('Reason').fill(reason);
  await submit(page, 'Do it');
  await page.getByText('Done.').waitFor();
}

/** Status of a message, once it is so. */
export async function untilStatus({ product: { sql } }: Desk, id: string, status: string): Promise<void> {
  await eventually(
    () => sql<{ status: string; submission: string }[]>`
      select status, submission from messages where id = ${id}`,
    ([row]) => row?.status === status || row?.submission === status,
  );
}
