import { z } from 'zod';
import { SUBJECT_MAX } from '../../domain/channels/mms.ts';
import { SMIL_MAX } from '../../domain/smil.ts';
import { documented } from '../documented.ts';
import { lineText, plainText } from '../fields.ts';
import { endpoint } from '../http/endpoint.ts';
import { MMS_SENDER } from '../messages/request.ts';
import { date, from, to } from './fields.ts';
import { sendAnswer } from './schema.ts';
import { EARLIER_SEND_REFUSALS, sendOne } from './sending.ts';

const SMIL = '<smil><body><par dur="8s"><img src="https://cdn.example.com/wiosna.jpg"/></par></body></smil>';

/** POST /v1/mms (v1.2.0). */
export const sendEarlierMms = endpoint({
  interface: 'v1',
  method: 'POST',
  scope: 'send',
  path: '/v1/mms',
  id: 'sendMms',
  summary: 'Sends one MMS to one recipient.',
  description: 'Sends what a SMIL document shows: its images, audio, video and text in their sequence.',
  refusals: [...EARLIER_SEND_REFUSALS, 'smil_malformed', 'foreign_price_missing'],
  body: z.strictObject({
    to,
    subject: documented(lineText.trim().min(1).max(SUBJECT_MAX), 'The subject.', 'Wiosenna oferta'),
    smil: documented(
      plainText.min(1).max(SMIL_MAX),
      'A SMIL document, its media by public https addresses.',
      SMIL,
    ),
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
