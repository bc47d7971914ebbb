import { NO_SESSION, type SubmitAnswer, type SubmitPart } from '../../domain/submission.ts';
import type { ProviderOptions, RouteTest } from '../kind.ts';
import type { Provider, ProviderHandlers } from '../provider.ts';
import { openSession, rolesOf } from './session.ts';
import { acceptedId, type Pdu, STATUS, statusName } from './codec.ts';
import { submitFields } from './content.ts';
import { answerOfStatus } from './receipts.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { createLateAnswers } from '../health.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { type SmppSettings, type SmppCredentials } from './settings.ts';

// Neither the message's fault nor mere throttling.
const WORTH_NOTING = new Set<SubmitAnswer['kind']>(['broken', 'later', 'unanswered']);

/** A route to an SMSC by SMPP 3.4. */
export function createSmppProvider({
  name,
  settings,
  credentials,
  onError,
}: ProviderOptions<SmppSettings, SmppCredentials>): Provider {
  let inbox: Inbox | undefined;
  const late = createLateAnswers(onError);
  const sessions = createSessions(settings, credentials, {
    onDeliver(session, pdu, respond) {
      if (pdu !== null && pdu.brokenTlv !== null) sessions.remark(brokenTlvInWords(pdu.brokenTlv));
      if (inbox) inbox.take(session, pdu, respond);
      else respond(STATUS.temporary);
    },
    onLost: (session) => inbox?.lost(session),
    onLate(reference, pdu) {
      const answer = answerOf(pdu, reference, settings, sessions);
      if (answer.kind !== 'unanswered') late.keep(reference, answer);
    },
  });

  return {
    name,
    takesWhole: settings.longMessages === 'payload',
    async submit(part, beforeSubmit) {
      const { reference } = part;
      const outcome = await sessions.submit({
        reference,
        beforeSubmit,
        fields: () => submitFields(part, settings),
      });
      switch (outcome.kind) {
        case 'answered': {
          const answer = answerOf(outcome.answer, reference, settings, sessions);
          // The sessions are open and yet nothing gets through: only the SMSC's status tells staff why.
          if (WORTH_NOTING.has(answer.kind)) sessions.note(answerInWords(outcome.answer));
          return answer;
        }
        case 'late':
          return { kind: 'unanswered', code: 'no_answer' };
        case 'lost':
          return { kind: 'unanswered', code: 'connection_lost' };
        case 'unwritten':
          return { kind: 'broken', code: NO_SESSION };
        case 'withheld':
          return outcome;
        case 'unwritable':
          onError(outcome.error);
          return refusalOf(part);
      }
    },
    lookup: () => Promise.resolve({ kind: 'failed' }),
    start(handlers: ProviderHandlers) {
      inbox = createInbox(settings, handlers, onError);
      late.start(handlers);
      sessions.start();
      return Promise.resolve();
    },
    state: () => sessions.state(),
    async stop() {
      await sessions.stop();
      await late.stop();
    },
  };
}

// A generic_nack (4.3.1) has no id and is never an acceptance.
function answerOf(
  pdu: Pdu,
  reference: string,
  settings: SmppSettings,
  sessions: Pick<Sessions, 'remark'>,
): SubmitAnswer {
  if (pdu.status !== STATUS.ok) return answerOfStatus(pdu.status, settings);
  if (pdu.command === 'generic_nack') return { kind: 'unanswered', code: 'generic_nack' };
  const id = typeof pdu.fields.message_id === 'string' ? acceptedId(settings.ids, pdu.fields.message_id) : '';
  if (id !== '') return { kind: 'accepted', providerMessageId: id };
  sessions.remark('the SMSC took a submit and gave it no id: no delivery report can be matched');
  // Accepted without an id: no report can match it, and it must not collide with others like it.
  return { kind: 'accepted', providerMessageId: `unnamed:${reference}` };
}

function brokenTlvInWords(tag: number): string {
  return `a deliver_sm has a TLV that runs beyond it: 0x${tag.toString(16).padStart(4, '0')}`;
}

function answerInWords({ command, status }: Pdu): string {
  const nack = command === 'generic_nack' ? 'generic_nack, ' : '';
  return `the SMSC answered a submit: ${nack}${statusName(status)}`;
}

// A part that cannot be encoded now never can be.
function refusalOf({ sender }: SubmitPart): SubmitAnswer {
  const writable = sender === null || /^[\x20-\x7e]*$/.test(sender);
  return { kind: 'refused', reason: writable ? 'invalid_content' : 'invalid_sender', code: 'not_encodable' };
}

/** Binds and unbinds once per role; the SMSC has to redeliver what it delivers meanwhile. `problem` is for staff, without secrets. */
export async function testSmppRoute(
  settings: SmppSettings,
  credentials: SmppCredentials,
): Promise<RouteTest> {
  const events = {
    onDeliver: (_session: unknown, _pdu: unknown, respond: (status: number) => boolean) => {
      respond(STATUS.temporary);
    },
    onLate: () => undefined,
    onWindowChange: () => undefined,
  };
  let smscSystemId = '';
  for (const role of rolesOf(settings)) {
    try {
      const session = await openSession(role, settings, credentials, events, new AbortController().signal);
      smscSystemId ||= session.smscSystemId;
      await session.close();
    } catch (error) {
      return { ok: false, problem: `${role}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
  return { ok: true, answer: `bound to ${smscSystemId || 'an SMSC without a name'}` };
}
