import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'undici';
import { updateWithStart } from './accept.ts';
import { noneRunning } from './contender.ts';
import { startProduct } from './contenders/product.ts';
import { addAccount } from './database.ts';
import { run, type Timing } from './load.ts';
import { startProgram } from './program.ts';
import { startServers } from './servers.ts';

/**
 * Measures what else waits for an answer of a workflow: look-ups of numbers, and cancels of scheduled messages, beside a bare
 * update-with-start at the same concurrency, in turns. Prints a Markdown table.
 *
 * --requests <n>  of each kind at each concurrency (200)
 */
const { values } = parseArgs({ options: { requests: { type: 'string', default: '200' } } });
const requests = Number(values.requests);
const IN_FLIGHT = [1, 8, 32];
const WARM_UP = 30;
const BATCH = 100;
const DAY_MS = 86_400_000;

const servers = await startServers();
const connection = await Connection.connect({ address: servers.temporalAddress });
const client = new Client({ connection });
const ceiling = await startProgram(
  'bench/ceiling/worker.ts',
  { TEMPORAL_ADDRESS: servers.temporalAddress },
  null,
);
const product = await startProduct(servers, null);
try {
  const { id: account, key } = await addAccount(product.sql);
  const pool = new Pool(product.apiUrl, { connections: Math.max(...IN_FLIGHT), pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await pool.request({ method, path, headers, ...sent });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };

  const schedule = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      const to = Array.from({ length: Math.min(BATCH, count - ids.length) }, newNumber);
      const send_at = new Date(Date.now() + DAY_MS).toISOString();
      const accepted = (await ask('POST', '/v1/messages', { to, text: 'Jutro.', send_at })) as {
        messages: { id: string }[];
      };
      ids.push(...accepted.messages.map(({ id }) => id));
    }
    return ids;
  };
  const kinds: Record<string, (count: number, inFlight: number) => Promise<Timing>> = {
    'bare update-with-start': (count, inFlight) => run(count, inFlight, () => updateWithStart(client)),
    'look-up': (count, inFlight) =>
      run(count, inFlight, () => ask('GET', `/v1/numbers/${newNumber()}/lookup`)),
    async cancel(count, inFlight) {
      const ids = await schedule(count);
      await started(ids.length);
      return await run(count, inFlight, () => ask('DELETE', `/v1/messages/${ids.pop()!}`));
    },
  };
  /** Their workflows run, so that what is measured is the cancel. */
  const started = async (count: number): Promise<void> => {
    const query = `WorkflowType = 'message' and Account = '${account}' and ExecutionStatus = 'Running'`;
    while ((await client.workflow.count(query)).count < count)
      await new Promise((done) => setTimeout(done, 250));
  };

  for (const measure of Object.values(kinds)) await measure(WARM_UP, 4);
  console.log('| at once | what | a second | × bare | median ms | × bare | 99 % ms |');
  console.log('| ---: | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const inFlight of IN_FLIGHT) {
    let bare: Timing | undefined;
    for (const [kind, measure] of Object.entries(kinds)) {
      await noneRunning(client, `Account = '${account}'`);
      const found = await measure(requests, inFlight);
      bare ??= found;
      console.log(
        `| ${inFlight} | ${kind} | ${found.perSecond.toFixed(1)} | ${(found.perSecond / bare.perSecond).toFixed(2)} | ` +
          `${found.median.toFixed(0)} | ${(found.median / bare.median).toFixed(2)} | ${found.p99.toFixed(0)} |`,
      );
    }
  }
  await pool.close();
} finally {
  await product.stop();
  await ceiling.stop();
  await connection.close();
  await servers.stop();
}

/** Polish, unlikely to have been asked about before, and with no ending that the simulated provider fails. */
function newNumber(): string {
  return `+4850${randomInt(1_000, 10_000)}0${randomInt(10, 100)}`;
}
