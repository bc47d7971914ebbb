import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Calls of one network whose bodies come byte by byte, without end; all have begun. */
export async function dribbling(
  { port }: { port: number },
  count: number,
  headers: Record<string, string> = {},
): Promise<Socket[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write('POST /v1/email/callback HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n');
      for (const [name, value] of Object.entries(headers)) socket.write(`${name}: ${value}\r\n`);
      // As some proxies write it.
      socket.write(`X-Forwarded-For: 192.0.2.${i}:${10_000 + i}\r\n\r\n{`);
      const more = setInterval(() => socket.write(' '), 250);
      socket.on('close', () => clearInterval(more));
      return socket;
    }),
  );
}
