import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// One listener per connection, however many requests are pipelined on it.
const waiting = new WeakMap<Socket, Set<() => void>>();

/** Runs `work` when the response is written or its caller has gone; a pipelined response may get no `close` event of its own. */
export function afterAnswer(response: ServerResponse, work: () => void): void {
  const { socket } = response.req;
  // A `close` event in the past is not repeated.
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
