import type { Socket } from 'node:net';
import { encodePdu, type Pdu, STATUS } from './codec.ts';
import { createIdle } from './idle.ts';
import { createIntake } from './intake.ts';
import { createLiveness } from './liveness.ts';
import { createRequests } from './requests.ts';
import type { NewSession, Role, Session, SessionEnd, SessionEvents } from './session.ts';
import type { SmppSettings } from './settings.ts';
import { readPdus, writePdu } from './wire.ts';

const LEAVE_MS = 2_000;
const UNBIND_MS = 5_000;
const PROVEN_MS = 30_000;

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
  let submits = 0;
  let answered = 0;
  let leaving: Promise<void> | undefined;
  let smscSystemId = '';

  const idle = createIdle(() => state === 'over' || (submits === 0 && intake.open() === 0));
  const intake = createIntake(
    socket,
    (pdu, respond) => events.onDeliver(session, pdu, respond),
    () => idle.check(),
  );
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
      why ??= `the SMSC closed the connection${state === 'binding' ? ' instead of answering the bind' : ''}`;
      state = 'over';
      liveness.stop();
      requests.loseAll();
      idle.check();
      resolve({ why, orderly });
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
      intake.readAll();
      orderly = state !== 'over' && (await farewell());
      socket.destroySoon();
      const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
      await ended;
      clearTimeout(timer);
    })();
    return leaving;
  };

  const respond = (pdu: Pdu, command: string, status: number = STATUS.ok): boolean =>
    writePdu(socket, encodePdu(command, pdu.sequence, {}, status));

  const serve = (pdu: Pdu): void => {
    switch (pdu.command) {
      case 'enquire_link':
        return void respond(pdu, 'enquire_link_resp');
      case 'deliver_sm':
        return intake.take(pdu, 'deliver_sm_resp');
      case 'data_sm':
        return intake.take(pdu, 'data_sm_resp');
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

  const noteAnswer = ({ status }: Pdu): void => {
    liveness.submitAnswered();
    if (status !== STATUS.notBound) {
      answered++;
      return;
    }
    // It will say so for ever: only a new bind helps.
    why ??= 'the SMSC knows nothing of the bind any more';
    void leave(responseMs, unbind);
  };

  const session: Session = {
    get smscSystemId() {
      return smscSystemId;
    },
    // A connection that broke is not writable at once, and says so later.
    accepts: () => state === 'open' && role !== 'receiver' && socket.writable,
    room: () => (session.accepts() ? settings.window - submits : 0),
    inFlight: () => submits,
    async submit(fields, reference) {
      submits++;
      try {
        const outcome = await requests.send('submit_sm', { ...fields }, responseMs, reference);
        if (outcome.kind === 'late') liveness.submitLate();
        if (outcome.kind === 'answered') noteAnswer(outcome.answer);
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
