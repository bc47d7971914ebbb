import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ready } from '../child.ts';

/**
 * The receiver of webhooks: acknowledges and counts, no more. GET tells how many events have come, and when the last one
 * did (epoch milliseconds). An event whose attempt was repeated counts once.
 */
const known = new Set<string>();
let lastAt = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'GET') return void response.end(JSON.stringify({ events: known.size, lastAt }));
    const body = Buffer.concat(chunks).toString();
    const id = /^\{"id":"([^"]+)"/.exec(body)?.[1] ?? body;
    if (!known.has(id)) lastAt = Date.now();
    known.add(id);
    response.end();
  });
}).listen(0, '127.0.0.1');

await once(server, 'listening');
ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
process.once('SIGINT', () => process.exit());
