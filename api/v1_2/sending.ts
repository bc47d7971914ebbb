import type { Channel } from '../../domain/channelNames.ts';
import type { Asked } from '../../operations/asked.ts';
import { fingerprintOf, keyedBy } from '../../operations/sending/idempotency.ts';
import type { SendInput } from '../../operations/sending/input.ts';
import { send } from '../../operations/sending/send.ts';
import type { Reason } from '../http/refusals.ts';
import { type FieldNames, inTheirWords } from './fields.ts';
import { type SendAnswer, sendAnswerOf, sentMessageOf } from './schema.ts';

const REPLAYED = { 'Idempotent-Replayed': 'true' };

/** Why a send of this interface is refused, whatever is sent. */
export const EARLIER_SEND_REFUSALS: readonly Reason[] = [
  ...(['recipient_unverified', 'no_route', 'sender_inactive', 'text_blank', 'text_too_long'] as const),
  ...(['number_malformed', 'polish_number_too_long', 'sender_malformed', 'instant_malformed'] as const),
  ...([
    'send_at_too_far',
    'statement_overdue',
    'insufficient_funds',
    'quota_reached',
    'backlog_full',
  ] as const),
  ...(['send_abandoned', 'send_unresolved', 'idempotency_other_content', 'idempotency_in_progress'] as const),
];

/** Sends one item, once for each `idx`. @param names of the request's fields, where they are not those of the operation */
export async function sendOne(
  call: Omit<Asked<unknown>, 'input'>,
  input: SendInput & { channel: Channel; to: string },
  names: FieldNames,
) {
  const { idx, channel } = input;
  const { secretsKey } = call.services;
  const keyed =
    idx === undefined
      ? null
      : { ...keyedBy(channel, idx), fingerprint: fingerprintOf(secretsKey, 'idx', channel, input) };
  const asked = { ...call, input: { ...input, interface: 'v1' as const, literal: true } };
  const sending = send<SendAnswer>(asked, {
    bodyOf: (messages) => sendAnswerOf(messages.map(sentMessageOf)),
    keyed,
  });
  const { body, replayed } = await inTheirWords(names, sending);
  return { status: 200 as const, body, ...(replayed ? { headers: REPLAYED } : {}) };
}
