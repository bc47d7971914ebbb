import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that a test can cut or freeze. */
export interface Proxy {
  port: number;
  /** Connections that were opened so far. */
  opened(): number;
  /** Nothing passes any more, in either direction; connections stay open and hang. */
  freeze(): void;
  /** As after a failover: nothing passes on the connections there are, nor do they end; new ones work. */
  strand(): void;
  /** What the server says on the connections there are is lost; what clients say still arrives. New ones work. */
  mute(): void;
  /** The server of stranded connections notices that they are dead; clients still do not. */
  notice(): void;
  /** Connections break, and new ones are broken at once. */
  cut(): void;
  /** As if nothing had been. */
  restore(): void;
  close(): Promise<void>;
}

/** Starts a proxy to the local server of a URL; `url` leads through it. */
export async function startProxyTo(url: string): Promise<{ proxy: Proxy; url: string }> {
  const through = new URL(url);
  const proxy = await startProxy(Number(through.port));
  through.port = String(proxy.port);
  return { proxy, url: through.href };
}

/** Starts a TCP proxy on 127.0.0.1 to a local port. */
export async function startProxy(target: number): Promise<Proxy> {
  let state: 'open' | 'frozen' | 'cut' = 'open';
  const sockets = new Set<Socket>();
  const stranded = new Set<Socket>();
  const far = new Set<Socket>();
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    if (state === 'cut') {
      near.destroy();
      return;
    }
    const remote = connect(target, '127.0.0.1');
    far.add(remote);
    for (const [from, to] of [
      [near, remote],
      [remote, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('end', () => {
        if (!stranded.has(from)) to.end();
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        far.delete(from);
        if (!stranded.delete(from)) to.destroy();
      });
      if (state === 'frozen') from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const leave = (isSilent: (socket: Socket) => boolean): void => {
    for (const socket of sockets) {
      stranded.add(socket);
      if (isSilent(socket)) socket.pause();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    opened: () => opened,
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    strand: () => leave(() => true),
    mute: () => leave((socket) => far.has(socket)),
    notice() {
      for (const socket of stranded) if (far.has(socket)) socket.destroy();
    },
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      state = 'open';
      for (const socket of sockets) if (!stranded.has(socket)) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
