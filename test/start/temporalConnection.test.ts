import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporalConnection } from '../../api/server.ts';
import { eventually } from '../support/eventually.ts';

const OK = 0;
const RESOURCE_EXHAUSTED = 8;

/** As Temporal answers that has too much to do: a call is tried again after a second. */
const busy = createServer();
let asked = 0;
busy.on('stream', (stream, { ':path': path }) => {
  const isCall = path?.endsWith('/DescribeWorkflowExecution') === true;
  if (isCall) asked += 1;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isCall ? RESOURCE_EXHAUSTED : OK }));
  // An empty message: what the server is, and says of itself.
  stream.end(isCall ? undefined : Buffer.alloc(5));
});
beforeAll(async () => {
  busy.listen(0, '127.0.0.1');
  await once(busy, 'listening');
});
afterAll(() => busy.close());

test('a call that waits for its next try fails when the connection is closed, and nothing is thrown where nobody catches it', async () => {
  const { port } = busy.address() as AddressInfo;
  const connection = temporalConnection({ address: `127.0.0.1:${port}` });
  const call = new Client({ connection }).workflow.getHandle('msg_1').describe();
  const outcome = expect(call).rejects.toThrow('describe');
  await eventually(
    () => Promise.resolve(asked),
    (times) => times === 1,
  );
  await connection.close();
  await outcome;
  expect(asked).toBe(1);
});
