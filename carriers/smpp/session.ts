import type { Socket } from 'node:net';
import { deliverPdu, encodePdu, type Fields, type Pdu, STATUS } from './codec.ts';
import { createIdle } from './idle.ts';
import { createLiveness } from './liveness.ts';
import type { DeliverPdu, SubmitFields } from './pdus.ts';
import { createRequests, type Outcome, type Requests } from './requests.ts';
import type { SmppSettings } from './settings.ts';
import { readPdus, writePdu } from './wire.ts';

/** deliver_sm under way in one session; beyond, nothing is read until half of them are answered. */
const MAX_DELIVERS = 200;
const LEAVE_MS = 2_000;
const UNBIND_MS = 5_000;
const PROVEN_MS = 30_000;

export type Role = 'transceiver' | 'transmitter' | 'receiver';

/** What a session tells; none of these may throw. */
export interface SessionEvents {
  /**
   * @param pdu null for one that cannot be read
   * @param respond to be called once; false where the SMSC did not get it
   */
  onDeliver(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  /** An answer after the time-out. */
  onLate(reference: string, answer: Pdu): void;
  /** There is more or less room than before. */
  onRoom(): void;
}

/** How a session ended: in good order, or by a lost connection. */
export interface SessionEnd {
  why: string;
  orderly: boolean;
}

/** One bind on one connection. */
export interface Session {
  /** The SMSC's name, as it says; '' before the bind's answer. */
  readonly smscSystemId: string;
  /** Whether it takes submits, room or not. */
  accepts(): boolean;
  /** How many submits more it takes at the moment. */
  room(): number;
  inFlight(): number;
  /** @throws RangeError for fields that cannot be written: nothing was sent then */
  submit(fields: SubmitFields, reference: string): Promise<Outcome>;
  /** Takes no more submits, waits for answers in both directions, unbinds, and closes the connection. */
  close(): Promise<void>;
  readonly ended: Promise<SessionEnd>;
  /** Whether it was of use: an SMSC that throws everybody out at once is not to be asked again and again. */
  worked(): boolean;
}

/** A session before its bind. */
export interface NewSession {
  session: Session;
  request: Requests['send'];
  /** The bind was taken. */
  opened: (smscSystemId: string) => void;
  /** Closes the connection at once. */
  end: (why: string) => void;
}

/** What both sides may say to each other on a connection, but for the bind itself. */
export function createSession(
  socket: Socket,
  role: Role,
  settings: SmppSettings,
  events: SessionEvents,
): NewSession {
  const responseMs = settings.responseSeconds * 1000;
  const since = Date.now();
  let state: 'binding' | 'open' | 'leaving' | 'over' = 'binding';
  let why: string | undefined;
  let orderly = false;
  let readsAll = false;
  let submits = 0;
  let delivers = 0;
  let answered = 0;
  let leaving: Promise<void> | undefined;
  let smscSystemId = '';

  const idle = createIdle(() => state === 'over' || (submits === 0 && delivers === 0));
  const requests = createRequests({
    write: (pdu) => writePdu(socket, pdu),
    isPaused: () => socket.isPaused() && state !== 'over',
    onLate(reference, answer) {
      liveness.submitAnswered();
      events.onLate(reference, answer);
    },
  });
  const unbind = async (): Promise<boolean> => {
    const outcome = await requests.send('unbind', {}, Math.min(responseMs, UNBIND_MS));
    return outcome.kind === 'answered';
  };
  const end = (reason: string): void => {
    why ??= reason;
    socket.destroy();
  };
  const liveness = createLiveness({
    intervalMs: settings.enquireLinkSeconds * 1000,
    responseMs,
    enquire: () => requests.send('enquire_link', {}, responseMs),
    onDead: () => end('no answer to enquire_link'),
    onStuck() {
      why ??= 'the SMSC answers no submits';
      void leave(0, unbind);
    },
  });

  const ended = new Promise<SessionEnd>((resolve) => {
    socket.once('error', (error) => (why ??= error.message));
    socket.once('close', () => {
      state = 'over';
      liveness.stop();
      requests.loseAll();
      idle.check();
      resolve({ why: why ?? 'the SMSC closed the connection', orderly });
      events.onRoom();
    });
  });

  /** Ends in good order; who asks second waits for the first. */
  const leave = (waitMs: number, farewell: () => Promise<boolean> | boolean): Promise<void> => {
    leaving ??= (async () => {
      if (state !== 'over') state = 'leaving';
      events.onRoom();
      await idle.within(waitMs);
      liveness.stop();
      // Whatever is still not stored by now: the SMSC's farewell has to be read.
      readsAll = true;
      socket.resume();
      orderly = state !== 'over' && (await farewell());
      socket.destroySoon();
      const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
      await ended;
      clearTimeout(timer);
    })();
    return leaving;
  };

  const respond = (pdu: Pdu, command: string, status: number = STATUS.ok, fields: Fields = {}): boolean =>
    writePdu(socket, encodePdu(command, pdu.sequence, fields, status));

  const deliver = (pdu: Pdu, answer: 'deliver_sm_resp' | 'data_sm_resp'): void => {
    delivers++;
    if (delivers >= MAX_DELIVERS && !readsAll) socket.pause();
    events.onDeliver(session, deliverPdu(pdu), (status) => {
      delivers--;
      if (delivers <= MAX_DELIVERS / 2 && socket.isPaused()) socket.resume();
      const told = respond(pdu, answer, status, { message_id: '' });
      idle.check();
      return told;
    });
  };

  const serve = (pdu: Pdu): void => {
    switch (pdu.command) {
      case 'enquire_link':
        return void respond(pdu, 'enquire_link_resp');
      case 'deliver_sm':
        return deliver(pdu, 'deliver_sm_resp');
      case 'data_sm':
        return deliver(pdu, 'data_sm_resp');
      case 'unbind':
        if (leaving) return void respond(pdu, 'unbind_resp');
        why ??= 'the SMSC unbound';
        return void leave(LEAVE_MS, () => respond(pdu, 'unbind_resp'));
      // These two have no answer (4.1.7, 4.12).
      case 'outbind':
      case 'alert_notification':
        return;
      case null:
      default:
        respond(pdu, 'generic_nack', STATUS.invalidCommand);
    }
  };

  readPdus(
    socket,
    (pdu) => {
      liveness.heard();
      if (pdu.isResponse) requests.answer(pdu);
      else serve(pdu);
    },
    () => end('the SMSC sent what is no SMPP'),
  );

  const session: Session = {
    get smscSystemId() {
      return smscSystemId;
    },
    accepts: () => state === 'open' && role !== 'receiver',
    room: () => (session.accepts() ? settings.window - submits : 0),
    inFlight: () => submits,
    async submit(fields, reference) {
      submits++;
      try {
        const outcome = await requests.send('submit_sm', { ...fields }, responseMs, reference);
        if (outcome.kind === 'late') liveness.submitLate();
        if (outcome.kind === 'answered') {
          answered++;
          liveness.submitAnswered();
        }
        return outcome;
      } finally {
        submits--;
        events.onRoom();
        idle.check();
      }
    },
    close: () => leave(responseMs, unbind),
    ended,
    worked: () => answered > 0 || Date.now() - since >= PROVEN_MS,
  };

  return {
    session,
    end,
    request: requests.send,
    opened: (name) => {
      smscSystemId = name;
      if (state !== 'binding') return;
      state = 'open';
      liveness.start();
    },
  };
}
