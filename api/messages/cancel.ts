import { z } from 'zod';
import { messageRecord } from '../../domain/records.ts';
import { isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import { cancel } from '../../operations/cancel.ts';
import { endpoint } from '../http/endpoint.ts';
import { lenientPathId } from '../fields.ts';
import { messageSchema } from './schema.ts';

/** DELETE /v1/messages/{id} (v2.3.0, Cancelling). */
export const cancelMessage = endpoint({
  method: 'DELETE',
  path: '/v1/messages/:id',
  scope: 'send',
  id: 'cancelMessage',
  summary: 'Cancels a scheduled message.',
  description:
    'Cancels a scheduled message up to 30 seconds before it is sent, and gives its cost back. Repeated, it answers the same message.',
  statusTexts: { 409: 'The message is not scheduled, or has less than 30 seconds left.' },
  refusals: ['message_unknown', 'not_cancellable'],
  params: z.strictObject({ id: lenientPathId('msg') }),
  responses: { 200: messageSchema },
  async handle(call) {
    const { id } = call.params;
    if (!isId('msg', id)) throw new Refused({ reason: 'message_unknown' });
    return { status: 200, body: messageRecord(await cancel({ ...call, input: { id } })) };
  },
});
