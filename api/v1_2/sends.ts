import { z } from 'zod';
import type { Channel } from '../../domain/channelDeclaration.ts';
import type { OperationContext } from '../../operations/context.ts';
import { type IdempotencyKey, keysOfIdx } from '../../operations/sending/idempotency.ts';
import { send, type SendInput } from '../../operations/sending/send.ts';
import {
  date,
  encoding,
  type FieldNames,
  from,
  idx,
  withRequestFieldNames,
  message,
  type SendAnswer,
  sendAnswer,
  sendAnswerOf,
  sentMessageOf,
  to,
} from './fields.ts';
import { documented, filledLine, filledText, omissible, plainText, senderName } from '../fields.ts';
import { endpoint, replayHeader } from '../http/endpoint.ts';
import { SUBJECT_MAX } from '../../domain/channels/mms.ts';
import { SMIL_MAX } from '../../domain/smil.ts';
import { MMS_SENDER } from '../messages/request.ts';
import { TRIES_MAX, VOICE_TEXT_MAX, VOICES } from '../../domain/channels/vms.ts';

/** Error statuses of a send beyond those of its declaration. */
export const EARLIER_SEND_ERRORS = [402, 503] as const;

/** Sends one message, once per `idx` and `Idempotency-Key`. */
async function sendOne(
  call: Omit<OperationContext<unknown>, 'input'> & { idempotencyKeys: readonly IdempotencyKey[] },
  input: SendInput & { channel: Channel; to: string },
  names: FieldNames,
) {
  const keys = [...call.idempotencyKeys, ...keysOfIdx(input.channel, input.idx)];
  const context = { ...call, input: { ...input, interface: 'v1' as const, literal: true } };
  const sending = send<SendAnswer>(context, {
    bodyOf: (messages) => sendAnswerOf(messages.map(sentMessageOf)),
    keys,
  });
  const { body, replayed } = await withRequestFieldNames(names, sending);
  return { status: 200 as const, body, ...replayHeader(replayed) };
}

export const SMS_NAMES = { text: 'message', send_at: 'date' } as const;

const request = z.strictObject({
  to,
  message,
  from,
  date,
  encoding,
  flash: documented(omissible(z.boolean()), 'Shown at once, and not stored by the phone.', false),
  normalize: documented(omissible(z.boolean()), 'Strips diacritics, so that the text is GSM-7.', false),
  idx,
});

/** UCS-2 unless the request asks for GSM-7. */
export function encodingOf(asked: 'utf-8' | 'gsm' | undefined): NonNullable<SendInput['encoding']> {
  return asked === 'gsm' ? 'gsm7' : 'ucs2';
}

export const sendEarlierSms = endpoint({
  interface: 'v1',
  method: 'POST',
  scope: 'send',
  path: '/v1/sms',
  id: 'sendSms',
  summary: 'Sends one SMS to one recipient.',
  description:
    'Sends a text as it is written. It goes as UCS-2, 70 characters a part (67 where there are several), unless `encoding` is `gsm` or `normalize` is set: then 160 (153).',
  idempotent: true,
  errors: EARLIER_SEND_ERRORS,
  body: request,
  example: { to: '+48500100200', message: 'Dzień dobry!', idx: 'zam-1042' },
  responses: { 200: sendAnswer },
  handle(call) {
    const { to: recipient, message: text, from: sender, date: sendAt, ...rest } = call.body;
    const input = {
      channel: 'sms' as const,
      to: recipient,
      text,
      from: sender,
      send_at: sendAt,
      flash: rest.flash,
      normalize: rest.normalize,
      idx: rest.idx,
      encoding: encodingOf(rest.encoding),
    };
    return sendOne(call, input, SMS_NAMES);
  },
});

const SMIL = '<smil><body><par dur="8s"><img src="https://cdn.example.com/wiosna.jpg"/></par></body></smil>';

export const sendEarlierMms = endpoint({
  interface: 'v1',
  method: 'POST',
  scope: 'send',
  path: '/v1/mms',
  id: 'sendMms',
  summary: 'Sends one MMS to one recipient.',
  description: 'Sends what a SMIL document shows: its images, audio, video and text in their sequence.',
  idempotent: true,
  errors: EARLIER_SEND_ERRORS,
  body: z.strictObject({
    to,
    subject: documented(filledLine.max(SUBJECT_MAX), 'The subject.', 'Wiosenna oferta'),
    smil: documented(filledText.max(SMIL_MAX), 'A SMIL document, its media by public https addresses.', SMIL),
    from: documented(
      from,
      `An active sender of the account; its default when left out. ${MMS_SENDER}`,
      'SKLEP',
    ),
    date,
  }),
  example: { to: '+48500100200', subject: 'Wiosenna oferta', smil: SMIL },
  bodyLimit: 128 * 1024,
  responses: { 200: sendAnswer },
  handle(call) {
    const { date: sendAt, ...rest } = call.body;
    return sendOne(call, { ...rest, channel: 'mms', send_at: sendAt }, { send_at: 'date' });
  },
});

const NAMES = { text: 'tts', voice: 'tts_lector', send_at: 'date', send_window: 'date' } as const;

export const sendEarlierVoice = endpoint({
  interface: 'v1',
  method: 'POST',
  scope: 'send',
  path: '/v1/vms',
  id: 'sendVms',
  summary: 'Calls a recipient and reads a text aloud.',
  description: 'Orders a call. Where the network calls at certain hours only, it waits for them.',
  idempotent: true,
  errors: EARLIER_SEND_ERRORS,
  body: z.strictObject({
    to,
    tts: documented(filledText.max(VOICE_TEXT_MAX), 'What is read aloud.', 'Dzień dobry!'),
    tts_lector: documented(omissible(z.enum(VOICES)), 'Who reads; `ewa` when left out.', 'maja'),
    tries: documented(
      omissible(z.int().min(1).max(TRIES_MAX)),
      'Call attempts while nobody answers; 1 when left out.',
      2,
    ),
    from: documented(
      omissible(
        plainText
          .transform((number) => number.replace(/^\+/, ''))
          .pipe(senderName)
          .meta({ pattern: '^\\+?[0-9]{3,15}$' }),
      ),
      'The number that is shown: an active sender of the account.',
      '48221234567',
    ),
    date,
  }),
  example: { to: '+48500100200', tts: 'Dzień dobry!', tts_lector: 'maja' },
  responses: { 200: sendAnswer },
  handle(call) {
    const { to: recipient, tts: text, tts_lector: voice, tries, from, date: sendAt } = call.body;
    const input = { channel: 'vms' as const, to: recipient, text, voice, tries, from, send_at: sendAt };
    return sendOne(call, input, NAMES);
  },
});
