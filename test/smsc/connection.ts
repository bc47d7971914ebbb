import type { Socket } from 'node:net';
import { COMMAND, encodePdu, type Pdu, reader, RESPONSE, takePdus } from './wire.ts';

/** What a client asked for when it bound (4.1). */
interface Bind {
  command: number;
  systemId: string;
  password: string;
  systemType: string;
  interfaceVersion: number;
  addressRange: string;
}

/** One connection of a client. */
export interface Connection {
  /** From 1, in the order they came. */
  readonly number: number;
  bind: Bind | null;
  /** Whether anything can be handed over by it. */
  readonly open: boolean;
  /** Neither reads nor writes any more, yet keeps the socket: a network that swallows everything. */
  freeze(): void;
  disconnect(): void;
  /** Writes bytes as they are. */
  write(bytes: Buffer): void;
  respond(to: Pdu, status?: number, body?: Buffer): void;
  /** Sends a request; the answer's status, or null when the connection ends before. */
  request(id: number, body?: Buffer): Promise<number | null>;
  /** Takes leave as an SMSC does: unbind, its answer, the end. */
  unbind(): Promise<void>;
}

/** Serves a socket: requests go to `onRequest`, answers to whom they belong. */
export function serve(
  socket: Socket,
  number: number,
  onRequest: (connection: Connection, pdu: Pdu) => void,
  onProblem: (problem: string) => void,
): Connection {
  const waiting = new Map<number, (status: number | null) => void>();
  let rest: Buffer = Buffer.alloc(0);
  let frozen = false;
  let sequence = 0;
  const connection: Connection = {
    number,
    bind: null,
    get open() {
      return !frozen && !socket.destroyed && socket.writable;
    },
    freeze() {
      frozen = true;
      socket.pause();
      giveUp();
    },
    disconnect: () => void socket.destroy(),
    write(bytes) {
      if (!frozen && socket.writable) socket.write(bytes);
    },
    respond: (to, status = 0, body) =>
      connection.write(
        encodePdu({
          id: to.id | RESPONSE,
          sequence: to.sequence,
          status,
          ...(status === 0 && body ? { body } : {}),
        }),
      ),
    request(id, body) {
      if (!connection.open) return Promise.resolve(null);
      sequence += 1;
      const answered = new Promise<number | null>((resolve) => waiting.set(sequence, resolve));
      connection.write(encodePdu({ id, sequence, ...(body ? { body } : {}) }));
      return answered;
    },
    async unbind() {
      await connection.request(COMMAND.unbind);
      socket.end();
    },
  };
  function giveUp(): void {
    for (const settle of waiting.values()) settle(null);
    waiting.clear();
  }
  const take = (pdu: Pdu): void => {
    if (pdu.id < RESPONSE) return onRequest(connection, pdu);
    waiting.get(pdu.sequence)?.(pdu.status);
    waiting.delete(pdu.sequence);
  };
  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => {
    if (frozen) return;
    try {
      const taken = takePdus(Buffer.concat([rest, chunk]));
      rest = taken.rest;
      // A connection may be frozen or cut by what one PDU brings about: what came behind it was not read then.
      for (const pdu of taken.pdus) if (!frozen && !socket.destroyed) take(pdu);
    } catch (error) {
      onProblem(String(error));
      socket.destroy();
    }
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', giveUp);
  return connection;
}

/** Reads a bind request; throws where it breaks a length of 4.1.1. */
export function readBind({ id, body }: Pdu): Bind {
  const read = reader(body);
  const bind = {
    command: id,
    systemId: read.text(16),
    password: read.text(9),
    systemType: read.text(13),
    interfaceVersion: read.octet(),
  };
  read.octets(2);
  return { ...bind, addressRange: read.text(41) };
}
