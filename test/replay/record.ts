import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import packageJson from '../../package.json' with { type: 'json' };
import { cancelSignal, cancelUpdate } from '../../workflows/contracts.ts';
import { HOUR, type Pipeline, startPipeline, until } from '../workflows/pipeline.ts';

/**
 * Records the histories that later versions of the workflows must still replay, into `histories/<version>/`. Run it
 * before a release (`npm run record-histories`); what an earlier release recorded is never recorded again.
 */
const FOLDER = new URL(`./histories/${packageJson.version}/`, import.meta.url);

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(request.url === '/refuse' ? 500 : 200).end());
}).listen(0, '127.0.0.1');
await new Promise((resolve) => receiver.once('listening', resolve));
const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

const pipeline = await startPipeline('real');
try {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, run] of Object.entries(scenarios(pipeline))) {
    await save(name, await run());
    console.log(`recorded ${name}`);
  }
} finally {
  await pipeline.close();
  receiver.close();
}

/** Each makes one workflow and returns its id once the history holds what the name says. */
function scenarios(at: Pipeline): Record<string, () => Promise<string>> {
  const send = async (options: object, account: object = {}): Promise<string> => {
    const message = await at.draft(await at.account(account), options);
    await at.accept(message);
    return message.id;
  };
  const sendUntil = (status: string, options: object, account?: object) => async () => {
    const id = await send(options, account);
    await at.untilStatus(id, status);
    await closed(id);
    return id;
  };
  const closed = (id: string) =>
    until(
      `${id} closes`,
      async () => (await at.client.workflow.getHandle(id).describe()).status.name !== 'RUNNING',
    );
  const scheduled = async () => {
    const message = await at.draft(await at.account(), { sendAt: Date.now() + 80 * 24 * HOUR });
    await at.accept(message);
    return message.id;
  };
  const handle = (id: string) => at.client.workflow.getHandle(id);

  return {
    'message-delivered': sendUntil('delivered', {}),
    'message-delivered-with-webhooks': sendUntil('delivered', {}, { webhookUrl: `${address}/take` }),
    'message-delivered-webhooks-refused': sendUntil('delivered', {}, { webhookUrl: `${address}/refuse` }),
    'message-undelivered': sendUntil('undelivered', { ending: '901' }),
    'message-refused-by-carrier': sendUntil('failed', { ending: '902' }, { webhookUrl: `${address}/take` }),
    'message-throttled': sendUntil('delivered', { ending: '904' }),
    'message-reported-early': sendUntil('delivered', { ending: '907' }),
    'message-insufficient-funds': sendUntil('refused', {}, { balance: 1 }),
    'message-expired': () => sendUntil('expired', { ending: '903', giveUpAt: Date.now() + 2_000 })(),
    'message-unanswered-expired': () =>
      sendUntil('expired', { ending: '905', giveUpAt: Date.now() + 6_000 })(),
    'message-sent-after-its-time': async () => {
      const message = await at.draft(await at.account(), { sendAt: Date.now() + 2_000 });
      await at.accept(message);
      await closed(message.id);
      return message.id;
    },
    'message-sleeping': scheduled,
    'message-cancelled': async () => {
      const id = await scheduled();
      await handle(id).executeUpdate(cancelUpdate);
      await closed(id);
      return id;
    },
    'message-cancelled-by-signal': async () => {
      const id = await scheduled();
      await handle(id).signal(cancelSignal);
      await closed(id);
      return id;
    },
    'message-cancelled-in-temporal': async () => {
      const id = await scheduled();
      await handle(id).cancel();
      await closed(id);
      return id;
    },
    'batch-accepted': async () => {
      const account = await at.account();
      const first = await at.draft(account);
      await at.draft(account, { requestId: first.requestId });
      await at.acceptBatch(account, first.requestId, 2);
      await closed(first.requestId);
      return first.requestId;
    },
    'batch-insufficient-funds': async () => {
      const account = await at.account({ balance: 20 });
      const first = await at.draft(account);
      await at.draft(account, { requestId: first.requestId });
      await at.acceptBatch(account, first.requestId, 2);
      await closed(first.requestId);
      return first.requestId;
    },
  };
}

// Stack traces of failed attempts name the folder this was recorded in.
function withoutPaths(json: string): string {
  return json.replaceAll(fileURLToPath(new URL('../../', import.meta.url)), '');
}

async function save(name: string, workflowId: string): Promise<void> {
  const history = await pipeline.client.workflow.getHandle(workflowId).fetchHistory();
  await writeFile(
    new URL(`${name}.json`, FOLDER),
    withoutPaths(
      JSON.stringify({ workflowId, history: JSON.parse(historyToJSON(history)) as unknown }, null, 1),
    ) + '\n',
  );
}
