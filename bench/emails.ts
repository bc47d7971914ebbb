import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'undici';
import { encrypt } from '../db/installation.ts';
import { type Product, startProduct } from './contenders/product.ts';
import { noneRunning } from './contender.ts';
import { cpuMs } from './cpu.ts';
import { addAccount } from './database.ts';
import { run } from './load.ts';
import { difference, per } from './measure.ts';
import { startReceiver } from './receiver.ts';
import { type Servers, startServers } from './servers.ts';
import { median } from './spread.ts';
import { until } from './until.ts';

/**
 * Measures e-mails through the whole product beside SMS: single requests through the simulated provider, from the first request until
 * each is delivered and its webhooks are acknowledged; in turns. Prints a Markdown table.
 *
 * --messages <n>   of each kind for each round (300)
 * --in-flight <n>  requests at once (16)
 * --rounds <n>     the middle one counts (3)
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '300' },
    'in-flight': { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
  },
});
const messages = Number(values.messages);
const inFlight = Number(values['in-flight']);
const WARM_UP = 60;
// Sent and delivered.
const EVENTS_EACH = 2;

interface Measured {
  perSecond: number;
  acceptMs: number;
  cpu: Record<string, number>;
  history: number;
}

const servers = await startServers();
const receiver = await startReceiver();
const connection = await Connection.connect({ address: servers.temporalAddress });
const client = new Client({ connection });
const product = await startProduct(servers, null);
try {
  const { id: account, key } = await addAccount(product.sql);
  await admin(servers, product, 'domains', 'add', '--account', account, '--name', 'sklep.example');
  await admin(servers, product, 'domains', 'confirm', '--account', account, '--name', 'sklep.example');
  const pool = new Pool(product.apiUrl, { connections: inFlight, pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (method: 'POST' | 'PUT', path: string, body: unknown): Promise<string> => {
    const answer = await pool.request({ method, path, headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode > 201) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  const receiverUrl = `http://127.0.0.1:${receiver.port}/`;
  await ask('PUT', '/v1/account/webhook', { url: receiverUrl });
  // Events of e-mails go to the webhook of the earlier interface.
  await product.sql`
    update accounts
       set legacy_webhook_url = ${receiverUrl}, legacy_webhook_secret = ${encrypt(product.secretsKey, account, 'secret')}
     where id = ${account}`;
  const text = 'Twoja paczka czeka w punkcie odbioru.';
  const kinds = {
    SMS: () => ask('POST', '/v1/messages', { to: '500100200', text }),
    'e-mail': () => ask('POST', '/v1/email', { to: 'jan@klient.example', subject: 'Paczka', text }),
  };
  const pids = { ...servers.pids, ...product.pids };

  const measure = async (send: () => Promise<string>, count: number): Promise<Measured> => {
    await receiver.counts();
    const before = cpuMs(pids);
    const from = Date.now();
    const ids: string[] = [];
    const accepting = await run(count, inFlight, async () => ids.push(idOf(await send())));
    let calls = 0;
    let last = from;
    await until('all webhooks are acknowledged', async () => {
      const counts = await receiver.counts();
      calls += counts.calls;
      last = Math.max(last, counts.lastAt);
      return calls >= count * EVENTS_EACH;
    });
    const cpu = per(count, difference(cpuMs(pids), before));
    const history = median(await Promise.all(ids.slice(0, 5).map(eventsOf)));
    return { perSecond: (count / (last - from)) * 1000, acceptMs: accepting.median, cpu, history };
  };
  const eventsOf = async (id: string): Promise<number> =>
    (await client.workflow.getHandle(id).describe()).historyLength;

  for (const send of Object.values(kinds)) await measure(send, WARM_UP);
  const found: Record<string, Measured[]> = { SMS: [], 'e-mail': [] };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [kind, send] of Object.entries(kinds)) {
      await noneRunning(client, `WorkflowType = 'message' and Account = '${account}'`);
      found[kind]!.push(await measure(send, messages));
    }
  }
  const names = Object.keys(pids);
  console.log(
    `| what | a second | accepted after, median ms | history events | ${names.join(' ms | ')} ms |`,
  );
  console.log(`| --- | ---: | ---: | ---: | ${names.map(() => '---: |').join(' ')}`);
  for (const [kind, all] of Object.entries(found)) {
    const { perSecond, acceptMs, history, cpu } = all.toSorted((a, b) => a.perSecond - b.perSecond)[
      Math.floor(all.length / 2)
    ]!;
    const used = names.map((name) => cpu[name]!.toFixed(1)).join(' | ');
    console.log(`| ${kind} | ${perSecond.toFixed(1)} | ${acceptMs.toFixed(0)} | ${history} | ${used} |`);
  }
  await pool.close();
} finally {
  await product.stop();
  await connection.close();
  await receiver.stop();
  await servers.stop();
}

/** The id of what was accepted, in the form of either. */
function idOf(answer: string): string {
  const { id, data } = JSON.parse(answer) as { id?: string; data?: { id: string } };
  return id ?? data!.id;
}

async function admin(at: Servers, { secretsKey }: Product, ...words: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'bin/admin.ts', ...words], {
    env: {
      ...process.env,
      DATABASE_URL: at.databaseUrl,
      TEMPORAL_ADDRESS: at.temporalAddress,
      DATA_DIR: at.dataDir,
      SECRETS_KEY: secretsKey.toString('base64'),
    },
  });
}
