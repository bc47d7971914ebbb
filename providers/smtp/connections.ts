import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import {
  type Connection,
  type HandOver,
  openConnection,
  type OutgoingMessage,
  type RefusedRecipient,
} from './connection.ts';
import type { Problem } from './replies.ts';
import type { SmtpCredentials, SmtpSettings } from './settings.ts';
import { exceededRecipientLimit } from './answers.ts';

// Relays close connections that are idle for a few minutes.
const IDLE_MS = 30_000;

interface PooledConnection {
  connection: Connection;
  release(): void;
}

export interface Connections {
  // A relay that verifies a recipient with its server may block a connection for minutes, so one account always leaves one to the others.
  acquire(accountId: string): Promise<PooledConnection | Problem>;
  inside(): number;
  /** Idle connections are closed now, the others when they are released. */
  stop(): void;
}

interface Idle {
  connection: Connection;
  uses: number;
  timer: NodeJS.Timeout;
}

/** Connections are reused, as each one costs several round trips. */
export function createConnections(settings: SmtpSettings, credentials: SmtpCredentials): Connections {
  const places = createFairSemaphore(settings.connections, Math.max(settings.connections - 1, 1));
  const stopping = new AbortController();
  const idle: Idle[] = [];

  const put = (connection: Connection, uses: number): void => {
    const full = uses >= settings.messagesPerConnection;
    if (full || stopping.signal.aborted || !connection.usable()) return connection.end();
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1);
      connection.end();
    }, IDLE_MS);
    const entry = { connection, uses, timer };
    idle.push(entry);
  };
  const takeIdle = (): Idle | null => {
    for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
      clearTimeout(entry.timer);
      // The relay may have closed it meanwhile.
      if (entry.connection.usable()) return entry;
    }
    return null;
  };

  return {
    async acquire(accountId) {
      const releaseSlot = await places.enter(accountId);
      try {
        const known = takeIdle();
        const connection =
          known?.connection ?? (await openConnection(settings, credentials, stopping.signal));
        if ('code' in connection) {
          releaseSlot();
          return connection;
        }
        const release = () => {
          put(connection, (known?.uses ?? 0) + 1);
          releaseSlot();
        };
        return { connection, release };
      } catch (error) {
        releaseSlot();
        throw error;
      }
    },
    inside: () => places.inside(),
    stop() {
      stopping.abort();
      for (const { connection, timer } of idle.splice(0)) {
        clearTimeout(timer);
        connection.end();
      }
    },
  };
}

/**
 * Sends a message, in further transactions for the recipients beyond the relay's limit (RFC 5321, 4.5.3.1.10). A recipient that got any
 * other reply is not named again; those still left are refused. Where a further transaction has no answer, its recipients count as
 * accepted, so that none gets the e-mail twice. `limits`: of all transactions together, and the least that one needs, in milliseconds.
 */
export async function inTransactions(
  connection: Connection,
  outgoing: OutgoingMessage,
  limits: { wholeMs: number; leastMs: number },
): Promise<HandOver> {
  const until = performance.now() + limits.wholeMs;
  const first = await connection.handOver(outgoing, limits.wholeMs);
  if (first.kind !== 'taken') return first;
  const refused = first.refused.filter((one) => !exceededRecipientLimit(one));
  let rest = first.refused.filter(exceededRecipientLimit);
  while (rest.length > 0 && connection.usable()) {
    const leftMs = until - performance.now();
    if (leftMs < limits.leastMs) break;
    const to = rest.map(({ address }) => address);
    const answered = answeredNext(await connection.handOver({ ...outgoing, to, goOn: () => true }, leftMs));
    if (answered === null) break;
    refused.push(...answered.refused.filter((one) => !answered.goesOn || !exceededRecipientLimit(one)));
    rest = answered.goesOn ? answered.refused.filter(exceededRecipientLimit) : [];
  }
  return { ...first, refused: [...refused, ...rest] };
}

// Whom a further transaction refused, and whether another one may accept some of them; null: it was accepted for none.
function answeredNext(result: HandOver): { refused: readonly RefusedRecipient[]; goesOn: boolean } | null {
  switch (result.kind) {
    case 'taken':
      return { refused: result.refused, goesOn: true };
    case 'no_recipients':
      return { refused: result.refused, goesOn: false };
    case 'unknown':
      return { refused: [], goesOn: false };
    case 'answered':
    case 'broken_off':
    case 'too_large':
    case 'unreadable':
    case 'lost':
      return null;
  }
}
