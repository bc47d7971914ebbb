import { createServer, type Socket } from 'node:net';

/** What it does instead of its usual answer: a reply, silence, a reset; or a reply that drips for ever. */
export type Fault = { reply: string } | 'silence' | 'reset' | 'drip';

/** Where in the dialogue. `half`: when a part of the message has come; `dot`: when all of it has; `taken`: when it was taken. */
export type Stage = 'greeting' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'half' | 'dot' | 'taken';

/** A mail server without TLS that goes wrong where it is asked to. */
export interface FaultServer {
  port: number;
  /** Ids of e-mails that it has taken, each as often as it took it. */
  taken: string[];
  /** Commands, as they came. */
  commands: string[];
  /** What goes wrong; asked at each stage. @param line the command, or the message at `dot` */
  fault: (stage: Stage, line: string) => Fault | null;
  /** What EHLO offers beside its name. */
  extensions: string[];
  /** Ends all connections. */
  hangUp(): void;
  close(): Promise<void>;
}

/** Starts one where nothing goes wrong yet. */
export async function startFaultServer(): Promise<FaultServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    serve(socket, it);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const it: FaultServer = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    taken: [],
    commands: [],
    fault: () => null,
    extensions: ['PIPELINING', 'ENHANCEDSTATUSCODES'],
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      it.hangUp();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return it;
}

function serve(socket: Socket, it: FaultServer): void {
  let pending = '';
  let message: string | null = null;
  let recipients = 0;
  let halfSeen = false;
  let isLost = false;

  const say = (stage: Stage, line: string, usual: string, then: () => void = () => undefined): void => {
    answer(it.fault(stage, line), usual, then);
  };
  const answer = (fault: Fault | null, usual: string, then: () => void = () => undefined): void => {
    if (fault === 'silence') return;
    if (fault === 'reset') return void socket.resetAndDestroy();
    if (fault === 'drip') {
      const dripping = setInterval(() => socket.write('250-more\r\n'), 20);
      return void socket.on('close', () => clearInterval(dripping));
    }
    if (fault !== null) {
      if (/^2|^3/.test(fault.reply)) then();
      return void socket.write(`${fault.reply}\r\n`);
    }
    then();
    if (usual !== '') socket.write(`${usual}\r\n`);
  };
  const command = (line: string): void => {
    it.commands.push(line);
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') {
      const lines = ['faults.example', ...it.extensions];
      const usual = lines.map((one, i) => `250${i < lines.length - 1 ? '-' : ' '}${one}`).join('\r\n');
      return say('EHLO', line, usual);
    }
    if (verb === 'MAIL') return say('MAIL', line, '250 2.1.0 ok', () => (recipients = 0));
    if (verb === 'RCPT') return say('RCPT', line, '250 2.1.5 ok', () => (recipients += 1));
    if (verb === 'DATA') {
      if (recipients === 0) return void socket.write('503 5.5.1 no recipients\r\n');
      return say('DATA', line, '354 go on', () => {
        message = '';
        halfSeen = false;
        isLost = false;
      });
    }
    if (verb === 'QUIT') return void socket.end('221 2.0.0 bye\r\n');
    socket.write('502 5.5.2 what?\r\n');
  };
  const read = (): void => {
    for (;;) {
      if (message !== null) {
        const end = pending.indexOf('\r\n.\r\n');
        if (!halfSeen && (pending.length > 20_000 || end >= 0)) {
          halfSeen = true;
          const fault = it.fault('half', '');
          if (fault !== null) {
            isLost = true;
            answer(fault, '');
          }
        }
        if (end < 0) return;
        const whole = pending.slice(0, end);
        pending = pending.slice(end + 5);
        message = null;
        const id = /^Message-ID: <(em_[0-9a-z]+)@/im.exec(whole)?.[1] ?? '?';
        if (isLost) continue;
        const fault = it.fault('dot', whole);
        if (fault !== null) {
          answer(fault, '');
          continue;
        }
        it.taken.push(id);
        say('taken', whole, '250 2.0.0 Ok: queued');
        continue;
      }
      const end = pending.indexOf('\r\n');
      if (end < 0) return;
      const line = pending.slice(0, end);
      pending = pending.slice(end + 2);
      command(line);
    }
  };
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    read();
  });
  say('greeting', '', '220 faults.example ESMTP');
}
