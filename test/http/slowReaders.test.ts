import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { closeSlowReaders } from '../../api/http/slowReaders.ts';
import { eventually } from '../support/eventually.ts';

const LIMITS = { patienceMs: 400, bytesPerMs: 20, checkMs: 20 };
const PIECE = Buffer.alloc(64 * 1024, 'x');
// More than the operating system takes by itself for a client that reads nothing.
const PIECES = 400;

/** A server that answers each request with 26 MB, or with little where the path is `/little`. */
async function server(): Promise<{ server: Server; port: number }> {
  const made = createServer((request, response) => {
    if (request.url === '/little') return response.end('little');
    return Readable.from(Array.from({ length: PIECES }, () => PIECE)).pipe(response);
  });
  closeSlowReaders(made, LIMITS);
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  onTestFinished(() => {
    made.closeAllConnections();
    made.close();
  });
  return { server: made, port: (made.address() as AddressInfo).port };
}

async function asking(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

async function connections(made: Server): Promise<number> {
  return await new Promise((resolve, reject) => {
    made.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

test('a client that takes nothing of its answer is left, however many it has asked for', async () => {
  const { server: made, port } = await server();
  const sockets = await Promise.all(Array.from({ length: 5 }, () => asking(port, '/')));
  for (const count of [sockets.length, 0])
    await eventually(
      () => connections(made),
      (open) => open === count,
    );
  for (const socket of sockets) socket.destroy();
});

/** Has time pass only where the test says so, for the checks and for what they measure. */
function stopChecks(): (ms: number) => unknown {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => vi.advanceTimersByTime(ms);
}

test('one that takes it too slowly as well', async () => {
  const pass = stopChecks();
  const { server: made, port } = await server();
  const socket = await asking(port, '/');
  socket.pause();
  const closed = once(socket, 'close');
  await eventually(
    async () => {
      socket.read(1_000);
      pass(100);
      return connections(made);
    },
    (open) => open === 0,
  );
  // What the operating system has taken meanwhile is still read to its end.
  socket.resume();
  await closed;
  expect(socket.bytesRead).toBeLessThan(PIECES * PIECE.length);
});

test('one that pauses, and then takes all of it, gets all of it', async () => {
  const pass = stopChecks();
  const { port } = await server();
  const socket = await asking(port, '/');
  pass(LIMITS.patienceMs / 2);
  let taken = 0;
  for await (const data of socket as AsyncIterable<Buffer>) {
    taken += data.length;
    if (taken >= PIECES * PIECE.length) break;
    // All of it takes longer than one who takes nothing has.
    pass(data.length / 50_000);
  }
  expect(taken).toBeGreaterThanOrEqual(PIECES * PIECE.length);
});

test('one that has nothing to take may rest', async () => {
  const { server: made, port } = await server();
  const socket = await asking(port, '/little');
  await once(socket, 'data');
  await delay(3 * LIMITS.patienceMs);
  expect(await connections(made)).toBe(1);
  socket.write('GET /little HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String(((await once(socket, 'data')) as [Buffer])[0])).toContain('little');
  socket.destroy();
});
