import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How slowly a client may take its answers. */
export interface ReadingLimits {
  /** Milliseconds that it may take beyond those that its pace allows. */
  patienceMs: number;
  /** What it has to take on the average. */
  bytesPerMs: number;
  /** How often it is looked at, in milliseconds. */
  checkMs: number;
}

// 20 kB a second; a body, which is no larger, has to come faster.
const LIMITS: ReadingLimits = { patienceMs: 30_000, bytesPerMs: 20, checkMs: 2_000 };

/** What is known of a connection that has something to take. */
interface Reader {
  /** Milliseconds it may still stand still. */
  leftMs: number;
  /** Bytes that had left this process when it was looked at. */
  taken: number;
}

/**
 * Closes connections whose clients do not take what they have asked for: an answer stays in this process's memory until it is taken,
 * and counts as under way. One that has nothing to take may rest.
 */
export function closeSlowReaders(server: Server, limits: ReadingLimits = LIMITS): void {
  const readers = new Map<Socket, Reader>();
  server.on('connection', (socket) => {
    readers.set(socket, { leftMs: limits.patienceMs, taken: 0 });
    socket.once('close', () => readers.delete(socket));
  });
  let checkedAt = performance.now();
  const check = setInterval(() => {
    const now = performance.now();
    // Where this process stood still itself, nobody could take anything.
    const passedMs = Math.min(now - checkedAt, 2 * limits.checkMs);
    checkedAt = now;
    for (const [socket, reader] of readers) {
      look(socket, reader, passedMs, limits);
      if (reader.leftMs <= 0) socket.destroy();
    }
  }, limits.checkMs);
  check.unref();
  server.once('close', () => clearInterval(check));
}

function look(socket: Socket, reader: Reader, passedMs: number, limits: ReadingLimits): void {
  const { patienceMs, bytesPerMs } = limits;
  const taken = socket.bytesWritten - socket.writableLength;
  const earnedMs = (taken - reader.taken) / bytesPerMs;
  const isWaitedFor = socket.writableLength > 0;
  reader.leftMs = isWaitedFor ? Math.min(patienceMs, reader.leftMs - passedMs + earnedMs) : patienceMs;
  reader.taken = taken;
}
