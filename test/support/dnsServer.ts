import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Socket as TcpSocket } from 'node:net';
import { type Answer, decode, encode, type Packet, streamDecode, streamEncode } from 'dns-packet';

/** What the server has at a name, by type; texts in the chunks they are sent in. */
interface Zone {
  TXT?: readonly (readonly string[])[];
  MX?: readonly { exchange: string; preference: number }[];
  CNAME?: readonly string[];
  A?: readonly string[];
  AAAA?: readonly string[];
}

/** Instead of records: the name is not there; there is nothing of any type; it fails; it refuses; it says nothing. */
type Trouble = 'nxdomain' | 'nodata' | 'servfail' | 'refused' | 'silence';

/** A DNS server on 127.0.0.1, over UDP and TCP. */
export interface DnsServer {
  /** host:port. */
  address: string;
  /** What it has; whatever is not in here does not exist. Names in small letters. */
  zone: Map<string, Zone | Trouble>;
  /** `TXT send.sklep.example` of every question so far. */
  questions: string[];
  close(): Promise<void>;
}

const RCODES = { nxdomain: 3, nodata: 0, servfail: 2, refused: 5 } as const;
const UDP_MAX = 512;
const TRUNCATED = 0x0200;
const ANSWERS = 0x0180;

/** Starts a DNS server that has nothing yet. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone = new Map<string, Zone | Trouble>();
  const questions: string[] = [];
  const sockets = new Set<TcpSocket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    let buffered = Buffer.alloc(0);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 2 && buffered.length >= 2 + buffered.readUInt16BE(0)) {
        const length = 2 + buffered.readUInt16BE(0);
        const reply = replyTo(streamDecode(buffered.subarray(0, length)), zone, questions);
        buffered = buffered.subarray(length);
        if (reply !== null) socket.write(streamEncode(reply));
      }
    });
  });
  const udp = createSocket('udp4', (message, from) => {
    const question = decode(message);
    const reply = replyTo(question, zone, questions);
    if (reply === null) return;
    const whole = encode(reply);
    // The rest is asked for over TCP.
    const sent =
      whole.length <= UDP_MAX
        ? whole
        : encode({ ...reply, answers: [], flags: (reply.flags ?? 0) | TRUNCATED });
    udp.send(sent, from.port, from.address);
  });
  const port = await bothOnOnePort(udp, tcp);
  return {
    address: `127.0.0.1:${port}`,
    ...{ zone, questions },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]);
    },
  };
}

async function bothOnOnePort(udp: Socket, tcp: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen(0, '127.0.0.1', resolve);
  });
  const { port } = tcp.address() as { port: number };
  await new Promise<void>((resolve, reject) => {
    udp.once('error', reject);
    udp.bind(port, '127.0.0.1', resolve);
  });
  return port;
}

function replyTo(packet: Packet, zone: DnsServer['zone'], asked: string[]): Packet | null {
  const [question] = packet.questions ?? [];
  if (question === undefined) return null;
  const name = question.name.toLowerCase();
  asked.push(`${question.type} ${name}`);
  const there = zone.get(name) ?? 'nxdomain';
  if (there === 'silence') return null;
  const base = { type: 'response' as const, id: packet.id ?? 0, questions: [question] };
  if (typeof there === 'string') return { ...base, flags: ANSWERS | RCODES[there], answers: [] };
  return { ...base, flags: ANSWERS, answers: answersOf(name, question.type, there) };
}

function answersOf(name: string, type: string, zone: Zone): Answer[] {
  const { TXT = [], MX = [], CNAME = [], A = [], AAAA = [] } = zone;
  const head = { name, ttl: 60 } as const;
  if (type === 'TXT') return TXT.map((chunks) => ({ ...head, type: 'TXT', data: [...chunks] }));
  if (type === 'MX') return MX.map((data) => ({ ...head, type: 'MX', data }));
  if (type === 'CNAME') return CNAME.map((data) => ({ ...head, type: 'CNAME', data }));
  if (type === 'A') return A.map((data) => ({ ...head, type: 'A', data }));
  if (type === 'AAAA') return AAAA.map((data) => ({ ...head, type: 'AAAA', data }));
  return [];
}

/** A text in chunks of 255 characters, as a long one has to be sent. */
export function inChunks(text: string): string[] {
  return text.match(/.{1,255}/gs) ?? [''];
}
