import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReceiverCounts } from './receiver.ts';

/** The receiver of webhooks: acknowledges and counts, no more. */
const none = (): ReceiverCounts => ({ calls: 0, lastAt: 0, unsigned: 0 });
let counts = none();

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    counts.calls += 1;
    counts.lastAt = Date.now();
    if (request.headers['x-service-signature'] === undefined) counts.unsigned += 1;
    response.writeHead(200).end();
  });
}).listen(0, '127.0.0.1');

await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
process.on('message', () => {
  process.send?.(counts);
  counts = none();
});
process.on('disconnect', () => process.exit());
