import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a server takes connections; `silent` when it gave no answer in time. */
export type BackendState = 'serves' | 'refuses' | 'silent';

/** One address in front of several servers. */
type BalancerOptions = {
  host: string;
  port: number;
  /** host:port each. */
  backends: string[];
  /** Asked again and again; without it a server counts as well that lets itself be connected to. */
  check?: (address: string) => Promise<BackendState>;
  /** Between two such questions. */
  checkEveryMs?: number;
};

type Backend = {
  address: string;
  well: boolean;
  silences: number;
  /** Connections that are being made; those that come at once must not all go to the same server. */
  opening: number;
  sockets: Set<Socket>;
};

const CHECK_EVERY_MS = 500;
const CONNECT_MS = 1_000;
// A busy server misses one answer. One that misses so many hangs: its clients are better off with another one.
const SILENCES_MAX = 3;

/**
 * Passes TCP connections on to the server that serves and has the fewest. It neither reads nor changes what passes, so
 * gRPC, HTTP and TLS go through alike; a call under way ends with the connection when its server dies, and the client's
 * next connection comes to another one.
 * @returns breaks every connection and listens no more
 */
export async function startBalancer(options: BalancerOptions): Promise<() => Promise<void>> {
  const backends = options.backends.map((address): Backend => {
    return { address, well: true, silences: 0, opening: 0, sockets: new Set() };
  });
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    clients.add(near);
    near.once('close', () => clients.delete(near));
    near.on('error', () => near.destroy());
    void passOn(near, backends);
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const closing = new AbortController();
  const checks = backends.map((backend) => keepChecking(backend, backends, options, closing.signal));
  return async () => {
    closing.abort();
    const closed = once(server, 'close');
    server.close();
    for (const socket of clients) socket.destroy();
    await Promise.all([closed, ...checks]);
  };
}

async function passOn(near: Socket, backends: Backend[]): Promise<void> {
  // Those that do not serve come last: the check may be wrong, and then they are better than nothing.
  const inOrder = [...backends].sort((a, b) => Number(b.well) - Number(a.well) || burden(a) - burden(b));
  for (const backend of inOrder) {
    backend.opening += 1;
    const far = await connected(backend.address);
    backend.opening -= 1;
    if (far === null) continue;
    if (near.destroyed) {
      far.destroy();
      return;
    }
    join(near, far, backend);
    return;
  }
  near.destroy();
}

const burden = ({ opening, sockets }: Backend): number => opening + sockets.size;

function connected(address: string): Promise<Socket | null> {
  const colon = address.lastIndexOf(':');
  const [host, port] = [address.slice(0, colon), Number(address.slice(colon + 1))];
  return new Promise((resolve) => {
    const far = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const giveUp = setTimeout(() => far.destroy(), CONNECT_MS);
    far.once('close', () => {
      clearTimeout(giveUp);
      resolve(null);
    });
    far.on('error', () => far.destroy());
    far.once('connect', () => {
      clearTimeout(giveUp);
      resolve(far);
    });
  });
}

function join(near: Socket, far: Socket, backend: Backend): void {
  backend.sockets.add(far);
  far.once('close', () => {
    backend.sockets.delete(far);
    near.destroySoon();
  });
  near.once('close', () => far.destroySoon());
  near.pipe(far);
  far.pipe(near);
}

async function keepChecking(
  backend: Backend,
  all: Backend[],
  { check, checkEveryMs = CHECK_EVERY_MS }: BalancerOptions,
  signal: AbortSignal,
): Promise<void> {
  if (check === undefined) return;
  while (!signal.aborted) {
    const state = await check(backend.address);
    backend.silences = state === 'silent' ? backend.silences + 1 : 0;
    const hangs = backend.silences >= SILENCES_MAX;
    backend.well = state === 'serves' || (state === 'silent' && backend.well && !hangs);
    if (hangs && all.some(({ well }) => well)) for (const far of backend.sockets) far.destroy();
    await sleep(checkEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
