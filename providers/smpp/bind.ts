import { STATUS, statusName } from './codec.ts';
import { createSession } from './conversation.ts';
import type { NewSession, Role, Session, SessionEvents } from './session.ts';
import type { SmppCredentials, SmppSettings } from './settings.ts';
import { connect } from './wire.ts';

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
