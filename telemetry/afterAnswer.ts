import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// One listener for each connection, however many requests were sent on it at once.
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Does something once when an answer is written, or its caller has gone. A response that stands behind another one on its connection
 * (pipelining) is not notified when that closes, so the connection is asked too.
 */
export function afterAnswer(response: ServerResponse, work: () => void): void {
  const { socket } = response.req;
  // Who has gone already will not say so again.
  if (response.destroyed || socket.destroyed) {
    work();
    return;
  }
  const ends = endsOf(socket);
  const end = () => {
    if (ends.delete(end)) work();
  };
  ends.add(end);
  response.once('close', end);
}

function endsOf(socket: Socket): Set<() => void> {
  const known = waiting.get(socket);
  if (known !== undefined) return known;
  const ends = new Set<() => void>();
  waiting.set(socket, ends);
  socket.once('close', () => {
    for (const end of ends) end();
  });
  return ends;
}
