import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers';
import { createServer as createTlsServer } from 'node:tls';
import { type Behaviour, receipt, REPORTED_AFTER_MS, type ReportPlan, type Submit } from './behaviour.ts';
import type { Certificate } from './certificate.ts';
import { type Connection, readBind, serve } from './connection.ts';
import { createOutbox } from './outbox.ts';
import { COMMAND, cString, decodeShortMessage, type Pdu } from './wire.ts';

const STATUS = { badBindState: 0x04, alreadyBound: 0x05, badPassword: 0x0e, badSystemId: 0x0f };

const TICK_MS = 5;

export interface SmscOptions {
  systemId?: string;
  password?: string;
  tls?: Certificate;
  /** 0: a free one. */
  port?: number;
}

/** An SMSC that does what a test tells it, and keeps everything it received. */
export interface Smsc {
  readonly port: number;
  readonly systemId: string;
  /** May be changed while it runs; connections that are bound stay so. */
  password: string;
  /** More binds than this are answered with ESME_RALYBND. */
  maxBinds: number;
  /** Decides on every submit. */
  behave: (submit: Submit, connection: Connection) => Behaviour;
  /** Every submit in the order it came. */
  readonly submits: Submit[];
  /** The status answered to each bind, in order. */
  readonly bindAnswers: number[];
  /** What clients sent that breaks the protocol; nothing must ever be here. */
  readonly problems: string[];
  /** Connections that are open, bound or not. */
  connections(): Connection[];
  /** Hands over a deliver_sm to any receiver as soon as there is one, and again until it is acknowledged. */
  deliver(body: Buffer): Promise<void>;
  /** Reports on a submit, beyond what was planned. */
  report(submit: Submit, plan: ReportPlan): Promise<void>;
  /** Hand-overs that were not acknowledged, or with an error. */
  readonly redelivered: number;
  /** Reports and messages not yet acknowledged, those still to be handed over included. */
  readonly undelivered: number;
  stop(): Promise<void>;
}

/** Starts one on 127.0.0.1. It takes everything and reports it delivered until it is told otherwise. */
export async function startSmsc(options: SmscOptions = {}): Promise<Smsc> {
  const { systemId = 'goniec', password = 'tajne', tls, port = 0 } = options;
  const connections = new Set<Connection>();
  const timers = new Set<NodeJS.Timeout>();
  const prefix = Math.floor(Math.random() * 0xffffff);
  let accepted = 0;
  let ids = 0;
  let planned = 0;

  const later = (ms: number, work: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, ms);
    timers.add(timer);
  };
  // The last two times at which this process was known to run.
  const ticks: [number, number] = [performance.now(), performance.now()];
  const ticking = setInterval(() => {
    ticks.shift();
    ticks.push(performance.now());
  }, TICK_MS);
  const outbox = createOutbox(() => [...connections].filter(receives), later);

  const smsc: Smsc = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    systemId,
    password,
    maxBinds: Number.POSITIVE_INFINITY,
    behave: () => ({}),
    submits: [],
    bindAnswers: [],
    problems: [],
    connections: () => [...connections],
    deliver: (body) => outbox.add(body),
    report: (submit, plan) => outbox.add(receipt(submit, plan)),
    get redelivered() {
      return outbox.redelivered();
    },
    get undelivered() {
      return planned + outbox.size();
    },
    async stop() {
      clearInterval(ticking);
      for (const timer of timers) clearTimeout(timer);
      outbox.close();
      for (const connection of connections) connection.disconnect();
      server.close();
      await once(server, 'close');
    },
  };

  const onConnection = (socket: Socket): void => {
    accepted += 1;
    const connection = serve(socket, accepted, onRequest, (problem) => smsc.problems.push(problem));
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  };
  const server = tls
    ? createTlsServer({ cert: tls.cert, key: tls.key }, onConnection)
    : createServer(onConnection);
  server.on('tlsClientError', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return smsc;

  function onRequest(connection: Connection, pdu: Pdu): void {
    if (pdu.id === COMMAND.enquireLink) return connection.respond(pdu);
    if (pdu.id === COMMAND.submitSm) return onSubmit(connection, pdu);
    if (pdu.id === COMMAND.unbind) {
      connection.respond(pdu);
      connection.bind = null;
      return later(50, () => connection.disconnect());
    }
    if (BINDS.has(pdu.id)) return onBind(connection, pdu);
    smsc.problems.push(`command ${pdu.id.toString(16)}`);
    connection.respond({ ...pdu, id: COMMAND.genericNack }, 0x03);
  }

  function onBind(connection: Connection, pdu: Pdu): void {
    const bind = readBind(pdu);
    const bound = [...connections].filter((one) => one.bind !== null).length;
    const status =
      bind.systemId !== smsc.systemId
        ? STATUS.badSystemId
        : bind.password !== smsc.password
          ? STATUS.badPassword
          : bound >= smsc.maxBinds
            ? STATUS.alreadyBound
            : 0;
    smsc.bindAnswers.push(status);
    if (status === 0) connection.bind = bind;
    connection.respond(pdu, status, cString('SMSC'));
    if (status === 0) outbox.pump();
  }

  function onSubmit(connection: Connection, pdu: Pdu): void {
    if (connection.bind === null || connection.bind.command === COMMAND.bindReceiver) {
      return connection.respond(pdu, STATUS.badBindState);
    }
    const submit: Submit = {
      ...decodeShortMessage(pdu.body),
      at: performance.now(),
      notBefore: ticks[0],
      connection: connection.number,
      sequence: pdu.sequence,
      taken: true,
      status: 0,
      id: null,
    };
    smsc.submits.push(submit);
    const behaviour = smsc.behave(submit, connection);
    submit.status = behaviour.status ?? 0;
    submit.taken = behaviour.taken ?? submit.status === 0;
    if (submit.taken) take(submit, behaviour);
    misbehave(connection, behaviour.connection);
    if (behaviour.answer === 'never') return;
    const answer = (): void => connection.respond(pdu, submit.status, cString(submit.id ?? ''));
    if (behaviour.answer === undefined) answer();
    else later(behaviour.answer, answer);
  }

  function take(submit: Submit, { id, reports = [{ stat: 'DELIVRD' }] }: Behaviour): void {
    ids += 1;
    submit.id = id ?? (prefix * 0x100 + ids).toString(16).padStart(8, '0');
    if ((submit.registeredDelivery & 0x03) === 0) return;
    planned += reports.length;
    for (const plan of reports) {
      later(plan.afterMs ?? REPORTED_AFTER_MS, () => {
        planned -= 1;
        void outbox.add(receipt(submit, plan));
      });
    }
  }
}

const BINDS = new Set<number>([COMMAND.bindReceiver, COMMAND.bindTransmitter, COMMAND.bindTransceiver]);

function receives({ bind, open }: Connection): boolean {
  return open && bind !== null && bind.command !== COMMAND.bindTransmitter;
}

function misbehave(connection: Connection, how: Behaviour['connection']): void {
  if (how === 'disconnect') connection.disconnect();
  else if (how === 'freeze') connection.freeze();
  else if (how !== undefined) connection.write(how);
}
