import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { decodePdu, deliverPdu, encodePdu, type Pdu } from './codec.ts';
import type { SmppSettings } from './settings.ts';

/**
 * PDUs as they are handed over inside this folder: fields under the names of SMPP 3.4 (section 5), what carries text as
 * raw bytes. Nothing here was checked beyond its type: it is what an SMSC sent.
 */

/** A TLV's value by its type: integers as numbers, C-octet strings as text (7 bits, without NUL), others as bytes. */
interface Tlvs {
  receipted_message_id?: string;
  message_state?: number;
  /** Three octets: network type, error code (5.3.2.31). */
  network_error_code?: Buffer;
  user_message_reference?: number;
  message_payload?: Buffer;
  sar_msg_ref_num?: number;
  sar_total_segments?: number;
  sar_segment_seqnum?: number;
}

/** What stands first in a message of either direction. */
interface MessageHead {
  service_type: string;
  source_addr_ton: number;
  source_addr_npi: number;
  source_addr: string;
  dest_addr_ton: number;
  dest_addr_npi: number;
  destination_addr: string;
  esm_class: number;
}

/** deliver_sm (4.6.1), or data_sm (4.7.1) from the SMSC, which has no short_message: its content is in a TLV. */
export interface DeliverPdu extends MessageHead, Tlvs {
  protocol_id: number;
  data_coding: number;
  /** At most 255 octets, with the user data header where esm_class announces one. Empty where there is none. */
  short_message: Buffer;
  /** The tag of a TLV that runs beyond the PDU: it, and whatever came behind it, is not among these. */
  brokenTlv: number | null;
}

/** What is said in a submit_sm (4.4.1) but for what is the same in all of ours. */
export interface SubmitFields extends MessageHead {
  priority_flag: number;
  /** '' or 16 characters (7.1.1). */
  validity_period: string;
  registered_delivery: number;
  data_coding: number;
  /** At most 254 octets, with the user data header; empty where the text is in `message_payload`. */
  short_message: Buffer;
  message_payload?: Buffer;
  sar_msg_ref_num?: number;
  sar_total_segments?: number;
  sar_segment_seqnum?: number;
}

/** deliver_sm under way in one session; beyond, nothing is read until half of them are answered. */
const MOST = 200;

/** What an SMSC delivered in one session and has no answer to yet. */
export interface Intake {
  take(pdu: Pdu, answer: 'deliver_sm_resp' | 'data_sm_resp'): void;
  open(): number;
  /** From now on everything is read, however much is open. */
  readAll(): void;
}

/** @param onAnswered one of them was answered, or nobody is there any more to be answered */
export function createIntake(
  socket: Socket,
  onDeliver: (pdu: DeliverPdu | null, respond: (status: number) => boolean) => void,
  onAnswered: () => void,
): Intake {
  let open = 0;
  let readsAll = false;
  return {
    take(pdu, answer) {
      open++;
      if (open >= MOST && !readsAll) socket.pause();
      onDeliver(deliverPdu(pdu), (status) => {
        open--;
        if (open <= MOST / 2 && socket.isPaused()) socket.resume();
        const written = writePdu(socket, encodePdu(answer, pdu.sequence, { message_id: '' }, status));
        onAnswered();
        return written;
      });
    },
    open: () => open,
    readAll() {
      readsAll = true;
      socket.resume();
    },
  };
}

const HEADER = 16;
/** No PDU of SMPP 3.4 needs more: a message_payload has at most 65,535 octets, what we send and expect has far less. */
const MAX_PDU = 65_536;
/** An SMSC that reads nothing of what it is sent is gone. */
const MAX_UNREAD = 1_048_576;
const KEEP_ALIVE_MS = 30_000;

/**
 * Connects to the SMSC, by TLS where the route says so: its certificate is checked against `tlsCa`, or the authorities
 * that Node brings, and against `tlsServerName`, or `host`.
 * @param signal gives it up
 * @throws Error where no connection comes about
 */
export function connect(settings: SmppSettings, signal: AbortSignal): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const { host, port } = settings;
    const socket = settings.tls
      ? tls.connect({
          host,
          port,
          minVersion: 'TLSv1.2',
          rejectUnauthorized: !settings.tlsInsecure,
          ...(settings.tlsCa === undefined ? {} : { ca: settings.tlsCa }),
          ...(serverName(settings) === undefined ? {} : { servername: serverName(settings) }),
        })
      : net.connect({ host, port });
    // Its last words may come after everybody stopped listening; unheard they would end the process.
    socket.on('error', () => undefined);
    const fail = (error: Error) => {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      reject(new Error(wordsOf(error), { cause: error }));
    };
    const giveUp = () => fail(signal.reason as Error);
    const closed = () => fail(new Error('the SMSC closed the connection'));
    socket.once('error', fail);
    socket.once('close', closed);
    socket.once(settings.tls ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', giveUp);
      socket.off('error', fail);
      socket.off('close', closed);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    });
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
}

// Of a name with several addresses, each error stands by itself, and the whole says nothing.
function wordsOf(error: Error): string {
  const last = error instanceof AggregateError ? (error.errors.at(-1) as Error) : error;
  return last.message;
}

function serverName({ host, tlsServerName }: SmppSettings): string | undefined {
  return tlsServerName ?? (net.isIP(host) === 0 ? host : undefined);
}

/**
 * Cuts what comes from a socket into PDUs. After a length that no PDU has nothing can be told apart any more: `onGarbage`
 * is called, once, and the rest is not looked at. It stops as well once the socket is destroyed.
 */
export function readPdus(socket: net.Socket, onPdu: (pdu: Pdu) => void, onGarbage: () => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  // Joined only when a whole PDU is here: one that comes octet by octet is not copied each time.
  let wanted = 4;

  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < wanted) return;
    const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks, size);
    let offset = 0;
    for (;;) {
      const rest = bytes.length - offset;
      wanted = rest < 4 ? 4 : bytes.readUInt32BE(offset);
      if (rest >= 4 && (wanted < HEADER || wanted > MAX_PDU)) {
        socket.off('data', onData);
        onGarbage();
        return;
      }
      if (rest < wanted) break;
      onPdu(decodePdu(bytes.subarray(offset, offset + wanted)));
      if (socket.destroyed) return;
      offset += wanted;
    }
    chunks = [bytes.subarray(offset)];
    size = bytes.length - offset;
  };
  socket.on('data', onData);
}

/** Writes one PDU; false where the connection is over, or the SMSC has long read nothing: it is over then, too. */
export function writePdu(socket: net.Socket, pdu: Buffer): boolean {
  if (socket.destroyed || !socket.writable) return false;
  if (socket.writableLength > MAX_UNREAD) {
    socket.destroy(new Error('SMSC is not draining the socket'));
    return false;
  }
  socket.write(pdu);
  return true;
}
