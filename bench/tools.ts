import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startProduct } from './contenders/product.ts';
import { addAccount } from './database.ts';
import { middle, run, type Timing } from './load.ts';
import { startServers } from './servers.ts';

/**
 * Measures the assistant-tool server: a call of `get_message` in both generations of the protocol beside `GET /v1/messages/{id}`,
 * the list of the tools at each path with its size, and what the API process holds after so many calls. One request at a time.
 * Prints Markdown tables.
 *
 * --requests <n>  calls of each kind for each round (500); lists 20 at most
 * --rounds <n>    the middle one by its median latency counts (3)
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
  },
});
const requests = Number(values.requests);
const rounds = Number(values.rounds);
const WARM_UP = 100;
// An account may list 600 times a minute: five paths, with their warming up, stay below it.
const LISTS = 20;
const PATHS = ['/mcp', '/mcp/sms', '/mcp/account', '/mcp/contacts', '/mcp/reports'];
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const KB = 1024;

const servers = await startServers();
const product = await startProduct(servers, null);
try {
  const { key } = await addAccount(product.sql);
  const pool = new Pool(product.apiUrl, { connections: 1, pipelining: 1 });
  const ask = (method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: unknown) =>
    hit(pool, method, path, { authorization: `Bearer ${key}`, ...headers }, body);
  const call = (revision: string, path: string, method: string, params: Record<string, unknown>) =>
    ask('POST', path, headersOf(revision, method, params), messageOf(revision, method, params));
  const JSON_TYPE = { 'content-type': 'application/json' };
  const sent = await ask('POST', '/v1/messages', JSON_TYPE, { to: '500100200', text: 'Dzień dobry' });
  const { id } = JSON.parse(sent) as { id: string };
  const named = { name: 'get_message', arguments: { id } };

  const kinds: [string, number, () => Promise<string>][] = [
    ['`GET /v1/messages/{id}`', requests, () => ask('GET', `/v1/messages/${id}`, {})],
    [`\`get_message\`, ${LEGACY}`, requests, () => call(LEGACY, '/mcp', 'tools/call', named)],
    [`\`get_message\`, ${MODERN}`, requests, () => call(MODERN, '/mcp', 'tools/call', named)],
    ...PATHS.map((path): [string, number, () => Promise<string>] => [
      `\`tools/list\` at \`${path}\``,
      Math.min(requests, LISTS),
      () => call(MODERN, path, 'tools/list', {}),
    ]),
  ];
  console.log('| what | bytes | requests/s | p50 ms | p95 ms |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  for (const [, count, work] of kinds) await run(Math.min(WARM_UP, count), 1, work);
  const found = kinds.map((): Timing[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, [, count, work]] of kinds.entries()) found[index]!.push(await run(count, 1, work));
  }
  for (const [index, [what, , work]] of kinds.entries()) {
    console.log(row(what, Buffer.byteLength(await work()), middle(found[index]!)));
  }

  const api = product.pids['api']!;
  const before = await residentKb(api);
  const THOUSANDS = 3;
  const held: number[] = [];
  for (let thousand = 0; thousand < THOUSANDS; thousand += 1) {
    await run(1000, 1, () => call(MODERN, '/mcp', 'tools/call', named));
    held.push(await residentKb(api));
  }
  const mb = (kb: number) => (kb / KB).toFixed(1);
  console.log(
    `\nmemory of the API: ${mb(before)} MB, after each 1,000 calls more: ${held.map(mb).join(', ')} MB`,
  );
  await pool.close();
} finally {
  await product.stop();
  await servers.stop();
}

function headersOf(
  revision: string,
  method: string,
  params: Record<string, unknown>,
): Record<string, string> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
  };
  if (revision === LEGACY) return headers;
  return {
    ...headers,
    'mcp-method': method,
    ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
  };
}

function messageOf(revision: string, method: string, params: Record<string, unknown>): unknown {
  const meta = revision === LEGACY ? {} : { _meta: META };
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, ...meta } };
}

async function hit(
  pool: Pool,
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<string> {
  const response = await pool.request({
    ...{ method, path, headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  // A refusal would only look fast.
  if (response.statusCode > 201 || failed(text)) {
    throw new Error(`${path}: ${response.statusCode} ${text.slice(0, 500)}`);
  }
  return text;
}

/** A failed call of a tool, or of the protocol, is answered with 200, as JSON or as the last of some events. */
function failed(text: string): boolean {
  const json = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 'data: '.length);
  const { error, result } = JSON.parse(json) as { error?: object | null; result?: { isError?: boolean } };
  return Boolean(error) || result?.isError === true;
}

function row(what: string, bytes: number, { perSecond, median, p95 }: Timing): string {
  return `| ${what} | ${bytes} | ${perSecond.toFixed(0)} | ${median.toFixed(2)} | ${p95.toFixed(2)} |`;
}

async function residentKb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]);
}
