import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { type Balancer, type BackendState, startBalancer } from '../../tools/cluster/balancer.ts';
import { eventually } from '../support/eventually.ts';

interface Backend {
  address: string;
  server: Server;
  sockets: Set<Socket>;
}

const cleanUps: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Says its name and repeats what it hears, until the caller has said all. */
async function startBackend(name: string): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.write(`${name}:`);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const backend = { address, server, sockets };
  cleanUps.push(() => end(backend));
  return backend;
}

async function end({ server, sockets }: Backend): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

async function balance(
  backends: Backend[],
  check?: (address: string) => Promise<BackendState>,
): Promise<Balancer> {
  const addresses = backends.map(({ address }) => address);
  const balancer = await startBalancer({
    ...{ host: '127.0.0.1', port: 0, backends: addresses, checkEveryMs: 10 },
    ...(check === undefined ? {} : { check }),
  });
  cleanUps.push(() => balancer.close());
  return balancer;
}

function call({ port }: Balancer): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  cleanUps.push(() => void socket.destroy());
  return socket;
}

/** Says something and hears all of the answer; empty when the connection breaks. */
async function talk(balancer: Balancer, words: string): Promise<string> {
  const socket = call(balancer);
  socket.end(words);
  return await text(socket).catch(() => '');
}

const nameHeard = async (socket: Socket): Promise<string> => {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
};

test('passes everything on, both ways, and the end of what the caller says', async () => {
  const balancer = await balance([await startBackend('a')]);
  const words = 'żółć '.repeat(200_000);
  expect(await talk(balancer, words)).toBe(`a:${words}`);
});

test('takes turns: the next connection goes to the server that has fewer', async () => {
  const balancer = await balance([await startBackend('a'), await startBackend('b')]);
  const names = [];
  for (let index = 0; index < 4; index += 1) names.push(await nameHeard(call(balancer)));
  expect(names.sort()).toEqual(['a:', 'a:', 'b:', 'b:']);
});

test('a server that has gone is passed over, and found again when it is back', async () => {
  const [a, b] = [await startBackend('a'), await startBackend('b')];
  const balancer = await balance([a, b]);
  await end(a);
  for (let index = 0; index < 3; index += 1) expect(await talk(balancer, '')).toBe('b:');
  a.server.listen(Number(a.address.split(':')[1]), '127.0.0.1');
  await once(a.server, 'listening');
  await eventually(
    () => talk(balancer, ''),
    (answer) => answer === 'a:',
  );
});

test('with no server left a connection ends at once', async () => {
  const a = await startBackend('a');
  const balancer = await balance([a]);
  await end(a);
  expect(await talk(balancer, 'x')).toBe('');
});

test('a connection ends with its server, whose other clients it does not touch', async () => {
  const [a, b] = [await startBackend('a'), await startBackend('b')];
  const balancer = await balance([a, b]);
  const [first, second] = [call(balancer), call(balancer)];
  const names = await Promise.all([nameHeard(first), nameHeard(second)]);
  await Promise.all([end(a), once(names[0] === 'a:' ? first : second, 'end')]);
  const other = names[0] === 'a:' ? second : first;
  other.write('still');
  expect(await nameHeard(other)).toBe('still');
});

test('a server that refuses gets no new connections and keeps those it has', async () => {
  const [a, b] = [await startBackend('a'), await startBackend('b')];
  const states = new Map<string, BackendState>();
  const balancer = await balance([a, b], (address) => Promise.resolve(states.get(address) ?? 'serves'));
  const kept = call(balancer);
  const name = await nameHeard(kept);
  states.set(name === 'a:' ? a.address : b.address, 'refuses');
  const elsewhere = name === 'a:' ? 'b:' : 'a:';
  await eventually(
    // Enough at once that both would have some.
    () => Promise.all([1, 2, 3, 4].map(() => nameHeard(call(balancer)))),
    (names) => names.every((one) => one === elsewhere),
  );
  kept.write('still');
  expect(await nameHeard(kept)).toBe('still');
});

test('a server that hangs loses its connections to the one that works, but not when it is the only one', async () => {
  const [a, b] = [await startBackend('a'), await startBackend('b')];
  const states = new Map<string, BackendState>();
  const check = (address: string) => Promise.resolve(states.get(address) ?? 'serves');
  const balancer = await balance([a, b], check);
  const socket = call(balancer);
  const [hanging, other] = (await nameHeard(socket)) === 'a:' ? [a, b] : [b, a];
  const closed = once(socket, 'end');
  states.set(hanging.address, 'silent');
  await closed;

  const moved = call(balancer);
  await nameHeard(moved);
  expect(other.sockets.size).toBe(1);
  let asked = 0;
  states.set(other.address, 'silent');
  const alone = await balance([other], () => {
    asked += 1;
    return Promise.resolve('silent');
  });
  const only = call(alone);
  await nameHeard(only);
  const before = asked;
  await eventually(
    () => Promise.resolve(asked),
    (times) => times > before + 5,
  );
  only.write('still');
  expect(await nameHeard(only)).toBe('still');
});
