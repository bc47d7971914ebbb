import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { decodePdu, deliverPdu, encodePdu, HEADER, type Pdu } from './codec.ts';
import type { SmppSettings } from './settings.ts';

// Decoded PDUs: fields by their names in SMPP 3.4 (section 5), texts as raw bytes. Only the types were checked; the rest is as the SMSC
// sent it.

interface Tlvs {
  receipted_message_id?: string;
  message_state?: number;
  network_error_code?: Buffer;
  message_payload?: Buffer;
  sar_msg_ref_num?: number;
  sar_total_segments?: number;
  sar_segment_seqnum?: number;
}

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

/** deliver_sm (4.6.1), or data_sm (4.7.1) from the SMSC, which has no short_message but a `message_payload`. */
export interface DeliverPdu extends MessageHead, Tlvs {
  protocol_id: number;
  data_coding: number;
  /** At most 255 octets, with the user data header if esm_class announces one; may be empty. */
  short_message: Buffer;
  /** Tag of a TLV that runs beyond the PDU: it, and what follows it, is missing here. */
  brokenTlv: number | null;
}

export interface SubmitFields extends MessageHead {
  priority_flag: number;
  /** '' or 16 characters (7.1.1). */
  validity_period: string;
  registered_delivery: number;
  data_coding: number;
  /** At most 254 octets, with the user data header; empty when the text is in `message_payload`. */
  short_message: Buffer;
  message_payload?: Buffer;
  sar_msg_ref_num?: number;
  sar_total_segments?: number;
  sar_segment_seqnum?: number;
}

// Pending deliver_sm per session; at this limit reading pauses until half of them are answered.
const MAX_PENDING = 200;

export interface Intake {
  take(pdu: Pdu, answer: 'deliver_sm_resp' | 'data_sm_resp'): void;
  open(): number;
  readAll(): void;
}

/** Pauses the socket while too many messages are pending. @param onAnswered after each response, even if it could not be written */
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
      if (open >= MAX_PENDING && !readsAll) socket.pause();
      onDeliver(deliverPdu(pdu), (status) => {
        open--;
        if (open <= MAX_PENDING / 2 && socket.isPaused()) socket.resume();
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

// No PDU of SMPP 3.4 is larger: a message_payload has at most 65,535 octets, ours far fewer.
const MAX_PDU = 65_536;
// An SMSC that leaves this many bytes unread is gone.
const MAX_UNREAD = 1_048_576;
const KEEP_ALIVE_MS = 30_000;

/** Connects; TLS is verified against `tlsCa` (default: Node's CAs) and `tlsServerName` (default: `host`). @throws on failure */
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
    // Errors may come when no other listener is left; unhandled, they would end the process.
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

// For a host with several addresses only the individual errors have a message.
function wordsOf(error: Error): string {
  const last = error instanceof AggregateError ? (error.errors.at(-1) as Error) : error;
  return last.message;
}

function serverName({ host, tlsServerName }: SmppSettings): string | undefined {
  return tlsServerName ?? (net.isIP(host) === 0 ? host : undefined);
}

/** Splits a stream into PDUs, until the socket is destroyed, or `onGarbage`: after an impossible length the next PDU cannot be found. */
export function readPdus(socket: net.Socket, onPdu: (pdu: Pdu) => void, onGarbage: () => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  // Chunks are joined only when a whole PDU is here, so that one arriving octet by octet is not copied each time.
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

/** Writes one PDU. False when the connection is over, or ended here because the SMSC left too much unread. */
export function writePdu(socket: net.Socket, pdu: Buffer): boolean {
  if (socket.destroyed || !socket.writable) return false;
  if (socket.writableLength > MAX_UNREAD) {
    socket.destroy(new Error('SMSC is not draining the socket'));
    return false;
  }
  socket.write(pdu);
  return true;
}
