import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { randomToken } from '../db/links/links.ts';
import { LINK_TOKEN_LENGTH } from '../domain/links.ts';
import { startProduct } from './contenders/product.ts';
import { addAccount } from './database.ts';
import { middle, run, type Timing } from './load.ts';
import { startServers } from './servers.ts';

/**
 * Measures the redirect of tracked links, `GET /l/{token}`, beside `GET /v1/health` of the same process, which does no more
 * than HTTP. Each hit is a click. Prints a Markdown table, and whether every answered hit was counted.
 *
 * --requests <n>  requests of each kind at each number of connections, for each round (1000)
 * --rounds <n>    the middle one by its median latency counts (3)
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
  },
});
const CONNECTIONS = [1, 16, 64];
const LINKS = 1000;
const WARM_UP = 100;
const TARGET = 'https://example.com/oferta?zrodlo=sms';
const requests = Number(values.requests);
const rounds = Number(values.rounds);

const servers = await startServers();
const product = await startProduct(servers, null);
const { sql } = product;
try {
  const { id } = await addAccount(sql);
  const tokens = Array.from({ length: LINKS }, () => randomToken(LINK_TOKEN_LENGTH));
  await sql`
    insert into tracked_links (token, account_id, recipient, url)
    select token, ${id}, '+48500' || 100000 + i, ${TARGET}
      from unnest(${tokens}::text[]) with ordinality as t (token, i)`;
  console.log('| connections | what | requests/s | p50 ms | p95 ms | p99 ms |');
  console.log('| ---: | --- | ---: | ---: | ---: | ---: |');
  let answered = 0;
  const from = performance.now();
  for (const connections of CONNECTIONS) {
    const pool = new Pool(product.apiUrl, { connections, pipelining: 1 });
    // 503 says that Temporal is slow, which on a busy machine it is; what is compared is the way there and back.
    const health = () => hit(pool, '/v1/health', 200, 503);
    const link = async () => {
      await hit(pool, `/l/${tokens[answered % LINKS]}`, 302);
      answered += 1;
    };
    const found: Record<'health' | 'link', Timing[]> = { health: [], link: [] };
    await run(WARM_UP, connections, health);
    await run(WARM_UP, connections, link);
    for (let round = 0; round < rounds; round += 1) {
      found.health.push(await run(requests, connections, health));
      found.link.push(await run(requests, connections, link));
    }
    await pool.close();
    console.log(row(connections, '`/v1/health`', middle(found.health)));
    console.log(row(connections, '`/l/{token}`', middle(found.link)));
  }
  const seconds = (performance.now() - from) / 1000;
  const [counted] = await sql<{ clicks: number }[]>`select sum(clicks)::int as clicks from tracked_links`;
  console.log(
    `\n${answered} hits answered, ${counted!.clicks} counted, ${LINKS} links, in ${seconds.toFixed(0)} s`,
  );
  if (counted!.clicks !== answered) throw new Error('a hit was answered without being counted');
} finally {
  await product.stop();
  await servers.stop();
}

async function hit(pool: Pool, path: string, ...expected: number[]): Promise<void> {
  const response = await pool.request({ method: 'GET', path, headers: { 'user-agent': 'Mozilla/5.0' } });
  await response.body.dump();
  if (!expected.includes(response.statusCode)) throw new Error(`${path}: ${response.statusCode}`);
}

function row(connections: number, what: string, { perSecond, median, p95, p99 }: Timing): string {
  const figures = [median, p95, p99].map((ms) => ms.toFixed(1));
  return `| ${[connections, what, perSecond.toFixed(0), ...figures].join(' | ')} |`;
}
