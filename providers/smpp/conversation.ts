import type { Socket } from 'node:net';
import { encodePdu, type Pdu, STATUS, statusName } from './codec.ts';
import type { NewSession, Role, Session, SessionEnd, SessionEvents } from './sessions.ts';
import type { SmppCredentials, SmppSettings } from './settings.ts';
import { connect, createIntake, type Intake, readPdus, type SubmitFields, writePdu } from './wire.ts';
import { createIdle, createLiveness, type Idle, type Liveness } from './liveness.ts';
import { createRequests, type Outcome, type Requests } from './requests.ts';

const SMPP_34 = 0x34;
const LONGEST_NAME = 64;

/**
 * Connects and binds (SMPP 3.4, 2.2 and 4.1).
 * @param signal gives it up
 * @throws Error saying why there is no session, without secrets
 */
export async function openSession(
  role: Role,
  settings: SmppSettings,
  credentials: SmppCredentials,
  events: SessionEvents,
  signal: AbortSignal,
): Promise<Session> {
  const attempt = new AbortController();
  const giveUp = () => attempt.abort(new Error('given up'));
  const expire = () => attempt.abort(new Error(`no bind within ${settings.bindSeconds} s`));
  const timer = setTimeout(expire, settings.bindSeconds * 1000);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    const socket = await connect(settings, attempt.signal);
    const { session, end, request, opened } = createSession(socket, role, settings, events);
    attempt.signal.addEventListener('abort', () => end((attempt.signal.reason as Error).message));
    try {
      opened(await bind(request, role, settings, credentials));
    } catch (error) {
      end(error instanceof Error ? error.message : String(error));
      // What the connection broke of says more than that there was no answer.
      throw new Error((await session.ended).why, { cause: error });
    }
    return session;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

/** Returns the SMSC's name. */
async function bind(
  request: NewSession['request'],
  role: Role,
  settings: SmppSettings,
  credentials: SmppCredentials,
): Promise<string> {
  const fields = {
    system_id: credentials.systemId,
    password: credentials.password,
    system_type: settings.systemType,
    interface_version: SMPP_34,
    address_range: settings.addressRange,
  };
  const outcome = await request(`bind_${role}`, fields, settings.bindSeconds * 1000);
  if (outcome.kind !== 'answered') throw new Error('no answer to the bind');
  const { status, command, fields: answer } = outcome.answer;
  if (status !== STATUS.ok) throw new Error(`the SMSC refused the bind: ${statusName(status)}`);
  if (command === 'generic_nack') throw new Error('the SMSC does not know the bind');
  return typeof answer.system_id === 'string'
    ? answer.system_id.slice(0, LONGEST_NAME).replace(/[^\x20-\x7e]/g, '?')
    : '';
}

const LEAVE_MS = 2_000;
const UNBIND_MS = 5_000;
const PROVEN_MS = 30_000;

/** A connection, and how far both sides have come on it. */
interface Talk {
  readonly socket: Socket;
  readonly role: Role;
  readonly settings: SmppSettings;
  readonly events: SessionEvents;
  /** How long an answer is waited for, in milliseconds. */
  readonly responseMs: number;
  /** Epoch milliseconds. */
  readonly since: number;
  state: 'binding' | 'open' | 'leaving' | 'over';
  /** The first reason for its end. */
  why: string | undefined;
  orderly: boolean;
  /** Submits without an answer so far. */
  submits: number;
  answered: number;
  /** Set once it is to end in good order. */
  leaving: Promise<void> | undefined;
  smscSystemId: string;
}

/** What serves the connection. */
interface Parts {
  idle: Idle;
  intake: Intake;
  requests: Requests;
  liveness: Liveness;
}

/** Says farewell; true if the SMSC got it. */
type Farewell = () => Promise<boolean> | boolean;

/** Ends a session in good order, after what is under way or `waitMs`; who asks second waits for the first. */
type Leave = (waitMs: number, farewell: Farewell) => Promise<void>;

/** What both sides may say to each other on a connection, but for the bind itself. */
function createSession(
  socket: Socket,
  role: Role,
  settings: SmppSettings,
  events: SessionEvents,
): NewSession {
  const talk = begun(socket, role, settings, events);
  const idle = createIdle(() => talk.state === 'over' || (talk.submits === 0 && intake.open() === 0));
  const intake = createIntake(
    socket,
    (pdu, respond) => events.onDeliver(session, pdu, respond),
    () => idle.check(),
  );
  const requests = createRequests({
    write: (pdu) => writePdu(socket, pdu),
    isPaused: () => socket.isPaused() && talk.state !== 'over',
    onLate(reference, answer) {
      liveness.submitAnswered();
      events.onLate(reference, answer);
    },
  });
  const liveness = createLiveness({
    intervalMs: settings.enquireLinkSeconds * 1000,
    responseMs: talk.responseMs,
    enquire: () => requests.send('enquire_link', {}, talk.responseMs),
    onDead: () => end(talk, 'no answer to enquire_link'),
    onStuck() {
      talk.why ??= 'the SMSC answers no submits';
      void unbind(0);
    },
  });
  const parts = { idle, intake, requests, liveness };
  const ended = endOf(talk, parts);
  const leave: Leave = (waitMs, farewell) =>
    (talk.leaving ??= leaveFor(talk, parts, ended, waitMs, farewell));
  const unbind = (waitMs: number): Promise<void> => leave(waitMs, () => sendUnbind(talk, requests));
  readPdus(
    socket,
    (pdu) => {
      liveness.heard();
      if (pdu.isResponse) requests.answer(pdu);
      else serve(talk, intake, leave, pdu);
    },
    () => end(talk, 'the SMSC sent what is no SMPP'),
  );
  const session = sessionOf(talk, parts, ended, unbind);
  return {
    session,
    end: (why) => end(talk, why),
    request: requests.send,
    opened: (smscSystemId) => opened(talk, liveness, smscSystemId),
  };
}

function begun(socket: Socket, role: Role, settings: SmppSettings, events: SessionEvents): Talk {
  return {
    ...{ socket, role, settings, events },
    responseMs: settings.responseSeconds * 1000,
    since: Date.now(),
    state: 'binding',
    why: undefined,
    orderly: false,
    submits: 0,
    answered: 0,
    leaving: undefined,
    smscSystemId: '',
  };
}

function opened(talk: Talk, liveness: Liveness, smscSystemId: string): void {
  talk.smscSystemId = smscSystemId;
  if (talk.state !== 'binding') return;
  talk.state = 'open';
  liveness.start();
}

/** Closes the connection at once. */
function end(talk: Talk, reason: string): void {
  talk.why ??= reason;
  talk.socket.destroy();
}

function endOf(talk: Talk, { idle, requests, liveness }: Parts): Promise<SessionEnd> {
  const { socket, events } = talk;
  return new Promise((resolve) => {
    socket.once('error', (error) => (talk.why ??= error.message));
    socket.once('close', () => {
      const instead = talk.state === 'binding' ? ' instead of answering the bind' : '';
      talk.why ??= `the SMSC closed the connection${instead}`;
      talk.state = 'over';
      liveness.stop();
      requests.loseAll();
      idle.check();
      resolve({ why: talk.why, orderly: talk.orderly });
      events.onRoom();
    });
  });
}

async function leaveFor(
  talk: Talk,
  { idle, intake, liveness }: Parts,
  ended: Promise<SessionEnd>,
  waitMs: number,
  farewell: Farewell,
): Promise<void> {
  const { socket, events } = talk;
  if (!isOver(talk)) talk.state = 'leaving';
  events.onRoom();
  await idle.within(waitMs);
  liveness.stop();
  // Whatever is still not stored by now: the SMSC's farewell has to be read.
  intake.readAll();
  talk.orderly = !isOver(talk) && (await farewell());
  socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
  await ended;
  clearTimeout(timer);
}

const isOver = ({ state }: Talk): boolean => state === 'over';

async function sendUnbind({ responseMs }: Talk, requests: Requests): Promise<boolean> {
  const outcome = await requests.send('unbind', {}, Math.min(responseMs, UNBIND_MS));
  return outcome.kind === 'answered';
}

/** Answers what the SMSC asks. */
function serve(talk: Talk, intake: Intake, leave: Leave, pdu: Pdu): void {
  const respond = (command: string, status: number = STATUS.ok): boolean =>
    writePdu(talk.socket, encodePdu(command, pdu.sequence, {}, status));
  switch (pdu.command) {
    case 'enquire_link':
      return void respond('enquire_link_resp');
    case 'deliver_sm':
      return intake.take(pdu, 'deliver_sm_resp');
    case 'data_sm':
      return intake.take(pdu, 'data_sm_resp');
    case 'unbind':
      if (talk.leaving) return void respond('unbind_resp');
      talk.why ??= 'the SMSC unbound';
      return void leave(LEAVE_MS, () => respond('unbind_resp'));
    // These two have no answer (4.1.7, 4.12).
    case 'outbind':
    case 'alert_notification':
      return;
    case null:
    default:
      respond('generic_nack', STATUS.invalidCommand);
  }
}

function sessionOf(
  talk: Talk,
  parts: Parts,
  ended: Promise<SessionEnd>,
  unbind: (waitMs: number) => Promise<void>,
): Session {
  const { socket, role, settings, responseMs, since } = talk;
  // A connection that broke is not writable at once, and says so later.
  const accepts = (): boolean => talk.state === 'open' && role !== 'receiver' && socket.writable;
  return {
    get smscSystemId() {
      return talk.smscSystemId;
    },
    accepts,
    room: () => (accepts() ? settings.window - talk.submits : 0),
    inFlight: () => talk.submits,
    submit: (fields, reference) => submit(talk, parts, unbind, fields, reference),
    close: () => unbind(responseMs),
    ended,
    worked: () => talk.answered > 0 || Date.now() - since >= PROVEN_MS,
  };
}

async function submit(
  talk: Talk,
  { idle, requests, liveness }: Parts,
  unbind: (waitMs: number) => Promise<void>,
  fields: SubmitFields,
  reference: string,
): Promise<Outcome> {
  talk.submits++;
  try {
    const outcome = await requests.send('submit_sm', { ...fields }, talk.responseMs, reference);
    if (outcome.kind === 'late') liveness.submitLate();
    if (outcome.kind === 'answered') {
      liveness.submitAnswered();
      if (outcome.answer.status !== STATUS.notBound) talk.answered++;
      else {
        // It will say so for ever: only a new bind helps.
        talk.why ??= 'the SMSC knows nothing of the bind any more';
        void unbind(talk.responseMs);
      }
    }
    return outcome;
  } finally {
    talk.submits--;
    talk.events.onRoom();
    idle.check();
  }
}
