import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReceiverCounts } from './receiver.ts';

/** The receiver of webhooks: acknowledges and counts, no more. */
const none = (): ReceiverCounts => ({ calls: 0, lastAt: 0, unsigned: 0, repeated: 0 });
const known = new Set<string>();
let counts = none();

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    take(Buffer.concat(chunks), request.headers['x-service-signature'] !== undefined);
    response.writeHead(200).end();
  });
}).listen(0, '127.0.0.1');

/** An attempt that takes too long is made again: such an event is told twice and counts once. */
function take(body: Buffer, signed: boolean): void {
  // Events in the form of the earlier interface have no id of their own.
  const id = /^\{"id":"([^"]+)"/.exec(body.toString('utf8', 0, 200))?.[1] ?? body.toString();
  if (!signed) counts.unsigned += 1;
  if (known.has(id)) {
    counts.repeated += 1;
    return;
  }
  known.add(id);
  counts.calls += 1;
  counts.lastAt = Date.now();
}

await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
process.on('message', () => {
  process.send?.(counts);
  counts = none();
});
process.on('disconnect', () => process.exit());
