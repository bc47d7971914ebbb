import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { ready } from '../child.ts';

/**
 * The SMSC of the measurements, a process of its own: takes every bind and submit (SMPP 3.4), answers at once, and reports
 * each submit delivered. Does no more than it must, so as not to be what is measured.
 */
const COMMAND = { deliver: 0x05, submit: 0x04, unbind: 0x06, enquire: 0x15, answer: 0x8000_0000 };
const BINDS = [0x01, 0x02, 0x09];
const HEADER = 16;
const RECEIPT = 0x04;
const NONE = Buffer.alloc(0);

let submits = 0;

const server = createServer((socket) => {
  let rest: Buffer = NONE;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    socket.cork();
    while (all.length - at >= HEADER && all.length - at >= all.readUInt32BE(at)) {
      const length = all.readUInt32BE(at);
      take(socket, all.subarray(at, at + length));
      at += length;
    }
    socket.uncork();
    rest = all.subarray(at);
  });
}).listen(0, '127.0.0.1');

await once(server, 'listening');
ready(`smpp://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.once('SIGINT', () => process.exit());

function take(socket: Socket, pdu: Buffer): void {
  const command = pdu.readUInt32BE(4);
  const answer = (body: Buffer) => socket.write(pduOf(command + COMMAND.answer, pdu.readUInt32BE(12), body));
  if (command === COMMAND.submit) {
    submits += 1;
    const id = submits.toString(16).padStart(12, '0');
    answer(Buffer.from(`${id}\0`));
    socket.write(pduOf(COMMAND.deliver, submits, receiptOf(pdu, id)));
  } else if (BINDS.includes(command)) {
    answer(Buffer.from('bench\0'));
  } else if (command === COMMAND.enquire || command === COMMAND.unbind) {
    answer(NONE);
  }
}

/** deliver_sm (4.6.1) with a receipt (Appendix B) from the submit's destination to its source. */
function receiptOf(submit: Buffer, id: string): Buffer {
  const source = submit.indexOf(0, HEADER) + 1;
  const destination = submit.indexOf(0, source + 2) + 1;
  const end = submit.indexOf(0, destination + 2) + 1;
  const text = `id:${id} sub:001 dlvrd:001 submit date:2611211200 done date:2611211200 stat:DELIVRD err:000 text:`;
  return Buffer.concat([
    Buffer.from([0]),
    submit.subarray(destination, end),
    submit.subarray(source, destination),
    // esm_class, protocol, priority, schedule, validity, registered, replace, data_coding, default message, length
    Buffer.from([RECEIPT, 0, 0, 0, 0, 0, 0, 0, 0, text.length]),
    Buffer.from(text),
  ]);
}

function pduOf(command: number, number: number, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER);
  [HEADER + body.length, command, 0, number].forEach((field, index) =>
    header.writeUInt32BE(field, 4 * index),
  );
  return Buffer.concat([header, body]);
}
