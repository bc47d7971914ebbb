import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findTemporalServer } from '../../bin/embedded/temporalServerBinary.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { bundleWorkflows } from '../../worker/bundle.ts';
import { BUILD_PATIENCE_MS, startCluster } from '../cluster/cluster.ts';
import { checkAtRest } from '../crash/atRest.ts';
import { chanceFrom } from '../crash/chance.ts';
import {
  headersOf,
  makeAccounts,
  type Payer,
  type Planned,
  planLoad,
  startLoad,
  type Told,
  untilAnswered,
} from '../crash/load.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { refusingEvery, startReceiver } from '../support/webhookReceiver.ts';
import { checkOutPreviousRelease } from './previousRelease.ts';
import { releaseIn } from './release.ts';

const SEED = Number(process.env['UPGRADE_SEED'] ?? randomInt(1_000_000));
const REQUESTS = Number(process.env['UPGRADE_REQUESTS'] ?? 60);
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const DAY_SECONDS = 86_400;
// A minute short of the furthest day that can be chosen.
const FAR_SECONDS = 90 * DAY_SECONDS - 60;
const FAR_MESSAGES = 12;
// They wake while both releases run, or after the earlier one has gone.
const SOON_SECONDS = [45, 60, 75, 90, 105, 120];

console.log(`UPGRADE_SEED=${SEED} UPGRADE_REQUESTS=${REQUESTS}`);

beforeAll(async () => {
  await findTemporalServer((line) => console.log(line));
}, BUILD_PATIENCE_MS);

const begun = endings();
afterAll(() => begun.all());

const previous = checkOutPreviousRelease();
if (typeof previous === 'string') console.log(`The upgrade is not tested: ${previous}.`);

test.skipIf(typeof previous === 'string')('messages of the release before go on with this one', async () => {
  if (typeof previous === 'string') return;
  begun.add(() => previous.remove());
  const cluster = await startCluster(['--only', 'temporal']);
  begun.add(() => cluster.stop());
  const earlier = releaseIn('earlier', previous.folder, cluster);
  const present = releaseIn('present', PROJECT, cluster);
  const started = async (part: ReturnType<typeof earlier.start>) => {
    const running = await part;
    begun.add(() => running.stop());
    return running;
  };
  const say = progress();

  await earlier.migrate();
  const [oldWorker, oldApi] = await Promise.all([
    started(earlier.start('worker')),
    started(earlier.start('api')),
  ]);
  // Rounds of attempts are under way at every moment.
  const receiver = await startReceiver(refusingEvery(3));
  begun.add(() => receiver.close());
  const quiet = await startReceiver();
  begun.add(() => quiet.close());
  const accounts = await makeAccounts(
    { ...cluster, apiUrls: [oldApi.url], admin: (...words) => earlier.admin(...words) },
    { telling: receiver, stepping: quiet },
  );
  say(`${previous.version} runs`);

  const sleepers = startLoad([oldApi.url], accounts, [...farMessages(), ...soonMessages()]);
  const told: Told[] = await sleepers.done;
  told.push(...(await startLoad([oldApi.url], accounts, [withLink('before')]).done));
  const sql = openDatabase(cluster.databaseUrl, 2);
  begun.add(() => sql.end({ timeout: 5 }));
  const clicked = [await clickedMessage(sql, oldApi.url)];
  const first = startLoad([oldApi.url], accounts, planLoad(chanceFrom(SEED, 'first'), 'first ', REQUESTS));
  await untilAnswered(first, Math.floor(REQUESTS / 2));
  await oldWorker.stop();
  say(`its worker has stopped, ${first.answered()} of ${REQUESTS} requests answered`);

  const connection = await Connection.connect({ address: cluster.temporalAddress });
  begun.add(() => connection.close());
  const client = new Client({ connection });
  const histories = await fetchHistories(client);

  // Its API goes on taking requests all the while.
  say((await present.migrate()).trim().split('\n').join(' '));
  const [, besides] = await Promise.all([started(present.start('worker')), started(earlier.start('worker'))]);
  clicked.push(await clickedMessage(sql, oldApi.url));
  told.push(...(await first.done));
  say('workers of both releases run; all requests are answered');
  const newApi = await started(present.start('api'));
  const urls = [oldApi.url, newApi.url];
  told.push(...(await startLoad(urls, accounts, [withLink('after')]).done));
  for (const url of urls) clicked.push(await clickedMessage(sql, url));
  const second = startLoad(urls, accounts, planLoad(chanceFrom(SEED, 'second'), 'second ', REQUESTS));
  told.push(...(await second.done));
  await Promise.all([besides.stop(), oldApi.stop()]);
  say(`${previous.version} has stopped`);
  const third = startLoad([newApi.url], accounts, planLoad(chanceFrom(SEED, 'third'), 'third ', REQUESTS));
  told.push(...(await third.done));

  await replayAll(histories);
  say(`${histories.length} histories of ${previous.version} replay with the present code`);
  expect(histories.length).toBeGreaterThan(FAR_MESSAGES + SOON_SECONDS.length);

  const far = told
    .filter(({ request }) => request.scheduled === FAR_SECONDS)
    .flatMap(({ messages }) => messages);
  expect(far).toHaveLength(FAR_MESSAGES);
  for (const { id } of far) expect(await currentDetails(client.workflow.getHandle(id))).not.toBe('');
  say('the messages of 90 days answer queries');
  await cancelHalf(
    newApi.url,
    headersOf(accounts.telling),
    far.map(({ id }) => id),
  );

  const [before, after] = ['before', 'after'].map(
    (when) => told.find(({ request }) => request.tag === withLink(when).tag)!.messages[0]!.id,
  );
  expect(clicked).toEqual([before, before, after, after]);
  say('clicks of before and after belong to the message that was sent last');

  await checkAtRest({ ...cluster, apiUrls: [newApi.url] }, { accounts, receiver, told });
  expect([sleepers, first, second, third].flatMap(({ complaints }) => complaints)).toEqual([]);
  const messages = told.flatMap((each) => each.messages);
  say(`${messages.length} messages, nothing wrong`);

  const unanswered = told
    .filter(({ request }) => request.tag.startsWith('soon') && request.recipients[0]!.endsWith('905'))
    .flatMap((each) => each.messages);
  expect(unanswered).not.toEqual([]);
  for (const { id } of unanswered)
    expect(await present.admin('messages', 'give-up', '--id', id)).toMatchObject({ carried_out: true });
  await eventually(
    () =>
      statusesAndRefunds(
        sql,
        unanswered.map(({ id }) => id),
      ),
    (found) => found.length === unanswered.length && found.every((one) => one === 'failed, 1 refund'),
  );
  say(`${unanswered.length} unanswered ones of ${previous.version} were given up and refunded`);
});

/** Of one account, so that half of them can be cancelled; some at once, some alone. */
function farMessages(): Planned[] {
  const recipients = Array.from({ length: FAR_MESSAGES }, (_, index) => `+48501000${100 + index}`);
  const several = recipients.splice(0, FAR_MESSAGES / 2);
  const shared = { payer: 'telling' as Payer, text: 'Za 90 dni', scheduled: FAR_SECONDS, cancel: false };
  return [
    { ...shared, tag: 'far several', recipients: several, single: false },
    ...recipients.map((recipient) => ({
      ...shared,
      tag: `far ${recipient}`,
      recipients: [recipient],
      single: true,
    })),
  ];
}

/** Of every kind of ending at every moment: 902 fails, 903 waits for a report for ever, 905 is never answered. */
function soonMessages(): Planned[] {
  return SOON_SECONDS.flatMap((scheduled) =>
    ['200', '901', '902', '903', '905'].map((ending) => ({
      tag: `soon ${scheduled} ${ending}`,
      payer: ending === '200' ? 'rich' : 'telling',
      recipients: [`+48502${String(scheduled).padStart(3, '0')}${ending}`],
      single: true,
      text: 'Zaraz',
      scheduled,
      cancel: false,
    })),
  );
}

/** A message with a link; all of them carry the same one. */
const withLink = (when: string): Planned => ({
  ...{ tag: `link ${when}`, payer: 'rich', recipients: ['+48503000200'], single: true },
  ...{ text: 'Paczka {{link:https://example.com/paczka}}', scheduled: null, cancel: false },
});

/** Opens that link once its last message has been given to the network, and waits for the click to be counted. @returns its message */
async function clickedMessage(sql: Database, api: string): Promise<string | null> {
  const [link] = await eventually(
    () => sql<{ token: string }[]>`
      select l.token from tracked_links l
       where l.recipient = '+48503000200' and not exists (
             select from message_links c join messages m on m.id = c.message_id
              where c.token = l.token and m.status not in ('sent', 'delivered'))`,
    (found) => found.length === 1,
  );
  const { token } = link!;
  const before = await sql<{ id: string }[]>`select id from link_clicks where token = ${token}`;
  const visit = await fetch(`${api}/l/${token}`, { redirect: 'manual' });
  expect(visit.status).toBe(302);
  const [click] = await eventually(
    () => sql<{ messageId: string | null }[]>`
      select message_id from link_clicks
       where token = ${token} and id <> all(${before.map(({ id }) => id)}) and counted_at is not null`,
    (found) => found.length === 1,
  );
  return click!.messageId;
}

type Recorded = Awaited<ReturnType<typeof fetchHistories>>[number];

async function fetchHistories(client: Client) {
  const fetched = [];
  for await (const { workflowId, runId } of client.workflow.list())
    fetched.push({ workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory() });
  return fetched;
}

/** Replays every history, as a worker of this release does when it takes the workflow over. */
async function replayAll(histories: Recorded[]): Promise<void> {
  // Steps that were under way when a history was fetched cannot go on here; that is no difference, and not worth a line.
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter, forward: {} } },
  });
  const workflowBundle = await bundleWorkflows();
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories))
    expect(error, workflowId).toBeUndefined();
}

async function currentDetails(handle: WorkflowHandle): Promise<string> {
  const { currentDetails: details } = await handle.query<{ currentDetails?: string }>(
    '__temporal_workflow_metadata',
  );
  return details ?? '';
}

async function statusesAndRefunds(sql: Database, ids: string[]): Promise<string[]> {
  const rows = await sql<{ status: string; refunds: number }[]>`
    select status, (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'refund') as refunds
      from messages m where id = any(${ids})`;
  return rows.map(({ status, refunds }) => `${status}, ${refunds} refund${refunds === 1 ? '' : 's'}`);
}

async function cancelHalf(url: string, headers: Record<string, string>, ids: string[]): Promise<void> {
  for (const id of ids.filter((_, index) => index % 2 === 0)) {
    const answer = await fetch(`${url}/v1/messages/${id}`, { method: 'DELETE', headers });
    expect(answer.status, await answer.text()).toBe(200);
  }
}

function progress(): (what: string) => void {
  const begun = Date.now();
  return (what) => console.log(`  ${((Date.now() - begun) / 1000).toFixed(0).padStart(3)} s: ${what}`);
}
