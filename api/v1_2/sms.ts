import { z } from 'zod';
import type { SendInput } from '../../operations/sending/input.ts';
import { documented } from '../documented.ts';
import { omissible } from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { date, encoding, from, idx, message, to } from './fields.ts';
import { sendAnswer } from './schema.ts';
import { EARLIER_SEND_REFUSALS, sendOne } from './sending.ts';

/** What the fields of an SMS are called here. */
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

/** How a text of this interface goes: as UCS-2 unless it asks for GSM-7. */
export function encodingOf(asked: 'utf-8' | 'gsm' | undefined): NonNullable<SendInput['encoding']> {
  return asked === 'gsm' ? 'gsm7' : 'ucs2';
}

/** POST /v1/sms (v1.2.0). */
export const sendEarlierSms = endpoint({
  interface: 'v1',
  method: 'POST',
  scope: 'send',
  path: '/v1/sms',
  id: 'sendSms',
  summary: 'Sends one SMS to one recipient.',
  description:
    'Sends a text as it is written. It goes as UCS-2, 70 characters a part (67 where there are several), unless `encoding` is `gsm` or `normalize` is set: then 160 (153).',
  refusals: [...EARLIER_SEND_REFUSALS, 'text_not_gsm7', 'text_empty'],
  body: request,
  example: { to: '+48500100200', message: 'Dzień dobry!', idx: 'zam-1042' },
  responses: { 200: sendAnswer },
  handle(call) {
    const { to: recipient, message: text, from: sender, date: sendAt, ...rest } = call.body;
    const input = {
      ...{ channel: 'sms' as const, to: recipient, text, from: sender, send_at: sendAt },
      ...{ flash: rest.flash, normalize: rest.normalize, idx: rest.idx },
      encoding: encodingOf(rest.encoding),
    };
    return sendOne(call, input, SMS_NAMES);
  },
});
