import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import type { Database } from '../db/connection.ts';
import { randomToken } from '../db/links/links.ts';
import { LINK_TOKEN_LENGTH } from '../domain/links.ts';
import { startProduct } from './contenders/product.ts';
import { addAccount } from './database.ts';
import { middle, run, type Timing } from './load.ts';
import { startServers } from './servers.ts';

/**
 * Measures the redirect of tracked links, `GET /l/{token}`, beside `GET /v1/health` of the same process, which does no more
 * than HTTP. Each hit is a stored click. Prints a Markdown table, and whether every answered hit was stored and counted.
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
const COUNT_PATIENCE_MS = 600_000;
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
  const stored = (await clicks(sql)).stored;
  console.log(
    `\n${answered} hits answered, ${stored} clicks stored, ${LINKS} links, in ${seconds.toFixed(0)} s`,
  );
  if (stored !== answered) throw new Error('a hit was answered without its click being stored');
  const waited = performance.now();
  const counted = await allCounted(sql, stored);
  console.log(
    `${counted} of them counted, the last ${((performance.now() - waited) / 1000).toFixed(0)} s after the last hit`,
  );
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

/** Clicks stored, and the sum of the links' counters. */
async function clicks(database: Database): Promise<{ stored: number; counted: number }> {
  const [row] = await database<{ stored: number; counted: number }[]>`
    select (select count(*)::int from link_clicks) as stored,
           (select coalesce(sum(clicks), 0)::int from tracked_links) as counted`;
  return row!;
}

async function allCounted(database: Database, expected: number): Promise<number> {
  const deadline = Date.now() + COUNT_PATIENCE_MS;
  for (;;) {
    const { counted } = await clicks(database);
    if (counted >= expected) return counted;
    if (Date.now() > deadline) throw new Error(`${counted} of ${expected} clicks counted in time`);
    await delay(500);
  }
}
