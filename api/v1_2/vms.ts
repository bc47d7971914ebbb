import { z } from 'zod';
import { TRIES_MAX, VOICE_TEXT_MAX, VOICES } from '../../domain/channels/vms.ts';
import { documented } from '../documented.ts';
import { omissible, plainText, senderName } from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { date, to } from './fields.ts';
import { sendAnswer } from './schema.ts';
import { EARLIER_SEND_REFUSALS, sendOne } from './sending.ts';

const NAMES = { text: 'tts', voice: 'tts_lector', send_at: 'date', send_window: 'date' } as const;

/** POST /v1/vms (v1.2.0). */
export const sendEarlierVoice = endpoint({
  interface: 'v1',
  method: 'POST',
  scope: 'send',
  path: '/v1/vms',
  id: 'sendVms',
  summary: 'Calls a recipient and reads a text aloud.',
  description: 'Orders a call. Where the network calls at certain hours only, it waits for them.',
  refusals: [...EARLIER_SEND_REFUSALS, 'foreign_price_missing', 'sender_not_number', 'calling_hours_missed'],
  body: z.strictObject({
    to,
    tts: documented(plainText.min(1).max(VOICE_TEXT_MAX), 'What is read aloud.', 'Dzień dobry!'),
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
