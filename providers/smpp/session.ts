import type { Socket } from 'node:net';
import { withTimeout } from '../../concurrency/tasks.ts';
import { encodePdu, type Pdu, STATUS, statusName } from './codec.ts';
import { createLiveness, type Liveness } from './liveness.ts';
import { createRequests, type Outcome, type Requests } from './requests.ts';
import type { SmppCredentials, SmppSettings } from './settings.ts';
import {
  connect,
  createIntake,
  type DeliverPdu,
  type Intake,
  readPdus,
  type SubmitFields,
  writePdu,
} from './wire.ts';

export type Role = 'transceiver' | 'transmitter' | 'receiver';

export function rolesOf({ bind }: SmppSettings): readonly Role[] {
  return bind === 'pair' ? ['transmitter', 'receiver'] : ['transceiver'];
}

/** Events of a session. Handlers must not throw. */
export interface SessionEvents {
  /** `pdu` is null when it cannot be read. `respond` has to be called once; false: the response could not be written. */
  onDeliver(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  onLate(reference: string, answer: Pdu): void;
  onWindowChange(): void;
}

interface SessionEnd {
  why: string;
  orderly: boolean;
}

const SMPP_34 = 0x34;
const LONGEST_NAME = 64;
const LEAVE_MS = 2_000;
const UNBIND_MS = 5_000;
const PROVEN_MS = 30_000;

/** Connects and binds (SMPP 3.4, 2.2 and 4.1). @throws Error saying why there is no session, without secrets */
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
    const session = new Session(await connect(settings, attempt.signal), role, settings, events);
    attempt.signal.addEventListener('abort', () => session.end((attempt.signal.reason as Error).message));
    try {
      await session.bind(credentials);
    } catch (error) {
      session.end(error instanceof Error ? error.message : String(error));
      // The reason why the connection broke says more than "no answer".
      throw new Error((await session.ended).why, { cause: error });
    }
    return session;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

export class Session {
  smscSystemId = '';
  readonly ended: Promise<SessionEnd>;

  readonly #socket: Socket;
  readonly #role: Role;
  readonly #settings: SmppSettings;
  readonly #events: SessionEvents;
  readonly #responseMs: number;
  readonly #since = Date.now();
  readonly #intake: Intake;
  readonly #requests: Requests;
  readonly #liveness: Liveness;

  #state: 'binding' | 'open' | 'leaving' | 'over' = 'binding';
  /** Why the session ends; the first reason counts. */
  #why: string | undefined;
  #orderly = false;
  #submits = 0;
  #answered = 0;
  #leaving: Promise<void> | undefined;
  #onIdle: () => void = () => undefined;

  constructor(socket: Socket, role: Role, settings: SmppSettings, events: SessionEvents) {
    this.#socket = socket;
    this.#role = role;
    this.#settings = settings;
    this.#events = events;
    this.#responseMs = settings.responseSeconds * 1000;
    this.#intake = createIntake(
      socket,
      (pdu, respond) => events.onDeliver(this, pdu, respond),
      () => this.#checkIdle(),
    );
    this.#requests = createRequests({
      write: (pdu) => writePdu(socket, pdu),
      isPaused: () => socket.isPaused() && this.#state !== 'over',
      onLate: (reference, answer) => {
        this.#liveness.submitAnswered();
        events.onLate(reference, answer);
      },
    });
    this.#liveness = createLiveness({
      intervalMs: settings.enquireLinkSeconds * 1000,
      responseMs: this.#responseMs,
      enquire: () => this.#requests.send('enquire_link', {}, this.#responseMs),
      onDead: () => this.end('no answer to enquire_link'),
      onStuck: () => {
        this.#why ??= 'the SMSC answers no submits';
        void this.#unbind(0);
      },
    });
    this.ended = this.#untilClosed();
    readPdus(
      socket,
      (pdu) => {
        this.#liveness.pduReceived();
        if (pdu.isResponse) this.#requests.answer(pdu);
        else this.#serve(pdu);
      },
      () => this.end('the SMSC sent what is no SMPP'),
    );
  }

  async bind(credentials: SmppCredentials): Promise<void> {
    const fields = {
      system_id: credentials.systemId,
      password: credentials.password,
      system_type: this.#settings.systemType,
      interface_version: SMPP_34,
      address_range: this.#settings.addressRange,
    };
    const outcome = await this.#requests.send(
      `bind_${this.#role}`,
      fields,
      this.#settings.bindSeconds * 1000,
    );
    if (outcome.kind !== 'answered') throw new Error('no answer to the bind');
    const { status, command, fields: answer } = outcome.answer;
    if (status !== STATUS.ok) throw new Error(`the SMSC refused the bind: ${statusName(status)}`);
    if (command === 'generic_nack') throw new Error('the SMSC does not know the bind');
    if (typeof answer.system_id === 'string')
      this.smscSystemId = answer.system_id.slice(0, LONGEST_NAME).replace(/[^\x20-\x7e]/g, '?');
    if (this.#state !== 'binding') return;
    this.#state = 'open';
    this.#liveness.start();
  }

  accepts(): boolean {
    // A broken connection is not writable right away, but emits its event later.
    return this.#state === 'open' && this.#role !== 'receiver' && this.#socket.writable;
  }

  freeWindow(): number {
    return this.accepts() ? this.#settings.window - this.#submits : 0;
  }

  inFlight(): number {
    return this.#submits;
  }

  /** Whether the session was useful: an SMSC that drops every session right away is reconnected to with back-off. */
  wasUseful(): boolean {
    return this.#answered > 0 || Date.now() - this.#since >= PROVEN_MS;
  }

  /** @throws RangeError for fields that cannot be encoded; nothing was sent then */
  async submit(fields: SubmitFields, reference: string): Promise<Outcome> {
    this.#submits++;
    try {
      const outcome = await this.#requests.send('submit_sm', { ...fields }, this.#responseMs, reference);
      if (outcome.kind === 'late') this.#liveness.submitTimedOut();
      if (outcome.kind === 'answered') {
        this.#liveness.submitAnswered();
        if (outcome.answer.status !== STATUS.notBound) this.#answered++;
        else {
          // Permanent for this session: only a new bind helps.
          this.#why ??= 'the SMSC knows nothing of the bind any more';
          void this.#unbind(this.#responseMs);
        }
      }
      return outcome;
    } finally {
      this.#submits--;
      this.#events.onWindowChange();
      this.#checkIdle();
    }
  }

  /** Accepts no more submits, waits for pending answers in both directions, unbinds, and closes the connection. */
  close(): Promise<void> {
    return this.#unbind(this.#responseMs);
  }

  end(why: string): void {
    this.#why ??= why;
    this.#socket.destroy();
  }

  #untilClosed(): Promise<SessionEnd> {
    return new Promise((resolve) => {
      this.#socket.once('error', (error) => (this.#why ??= error.message));
      this.#socket.once('close', () => {
        const instead = this.#state === 'binding' ? ' instead of answering the bind' : '';
        this.#why ??= `the SMSC closed the connection${instead}`;
        this.#state = 'over';
        this.#liveness.stop();
        this.#requests.failAll();
        this.#checkIdle();
        resolve({ why: this.#why, orderly: this.#orderly });
        this.#events.onWindowChange();
      });
    });
  }

  #isOver(): boolean {
    return this.#state === 'over';
  }

  #checkIdle(): void {
    if (this.#isOver() || (this.#submits === 0 && this.#intake.open() === 0)) this.#onIdle();
  }

  #unbind(waitMs: number): Promise<void> {
    return (this.#leaving ??= this.#leave(waitMs, async () => {
      const outcome = await this.#requests.send('unbind', {}, Math.min(this.#responseMs, UNBIND_MS));
      return outcome.kind === 'answered';
    }));
  }

  // Orderly shutdown, once, after pending work or `waitMs`. `farewell` returns whether the SMSC got it.
  async #leave(waitMs: number, farewell: () => Promise<boolean> | boolean): Promise<void> {
    if (!this.#isOver()) this.#state = 'leaving';
    this.#events.onWindowChange();
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.#checkIdle();
    await withTimeout(idle, waitMs, () => undefined);
    this.#liveness.stop();
    // Even if messages are still not stored: the SMSC's response to the unbind has to be read.
    this.#intake.readAll();
    this.#orderly = !this.#isOver() && (await farewell());
    this.#socket.destroySoon();
    const timer = setTimeout(() => this.#socket.destroy(), LEAVE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #serve(pdu: Pdu): void {
    const respond = (command: string, status: number = STATUS.ok): boolean =>
      writePdu(this.#socket, encodePdu(command, pdu.sequence, {}, status));
    switch (pdu.command) {
      case 'enquire_link':
        return void respond('enquire_link_resp');
      case 'deliver_sm':
        return this.#intake.take(pdu, 'deliver_sm_resp');
      case 'data_sm':
        return this.#intake.take(pdu, 'data_sm_resp');
      case 'unbind':
        if (this.#leaving) return void respond('unbind_resp');
        this.#why ??= 'the SMSC unbound';
        this.#leaving = this.#leave(LEAVE_MS, () => respond('unbind_resp'));
        return;
      // These two have no response (4.1.7, 4.12).
      case 'outbind':
      case 'alert_notification':
        return;
      case null:
      default:
        respond('generic_nack', STATUS.invalidCommand);
    }
  }
}
