import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to an API that puts a key onto every request, for programs that cannot be given one. */
export interface KeyProxy {
  url: string;
  /** The revisions of the protocol that passing requests have named. */
  revisions: ReadonlySet<string>;
  close: () => Promise<void>;
}

/** Starts it on 127.0.0.1. Everything else passes as it came, `Host` and `Origin` too. */
export async function startKeyProxy(apiUrl: string, key: string): Promise<KeyProxy> {
  const revisions = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const revision = incoming.headers['mcp-protocol-version'];
    if (typeof revision === 'string') revisions.add(revision);
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const passed = request(new URL(incoming.url!, apiUrl), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    revisions,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
