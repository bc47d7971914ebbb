import { z } from 'zod';
import { readVerification } from '../db/verifications/verifications.ts';
import { Refused } from '../domain/refusals.ts';
import {
  CODE_LENGTH,
  GUESSES_MAX,
  LOCALES,
  TTL,
  VERIFICATION_STATUSES,
  verificationRecord,
  type VerificationRecord,
} from '../domain/verifications.ts';
import { check, verify } from '../operations/verify/verify.ts';
import {
  createdAt,
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  grosze,
  msisdn,
  omissible,
  omissibleWithDefault,
  pathId,
  senderName,
  timestamp,
  updatedAt,
} from './fields.ts';
import { endpoint, replayHeader } from './http/endpoint.ts';

export const verificationSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('ver')),
    status: documented(
      z.enum(VERIFICATION_STATUSES),
      '`pending`: waits for the code. `approved`: the right code came in time. `expired`: it did not. `failed`: five wrong ones came. The last three are final.',
      'pending',
    ),
    to: documented(z.string(), 'The phone number.', '+48500100200'),
    attempts_left: documented(z.int().nonnegative(), 'Guesses that are left.', GUESSES_MAX),
    cost_grosze: documented(grosze.nonnegative(), 'What all its SMS cost together, in grosze net.', 15),
    expires_at: documented(timestamp, 'Until when the code is valid.', EXAMPLE_INSTANT),
    approved_at: documented(timestamp.nullable(), 'When the right code came.', null),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({
    id: 'Verification',
    description: 'A code sent to a number, to see whether somebody has the phone.',
  }) satisfies z.ZodType<VerificationRecord>;

const ADDITION = 'An addition of this service to the interface document (v2.3.0).';

/** POST /v1/verifications (our addition). */
export const startVerification = endpoint({
  method: 'POST',
  path: '/v1/verifications',
  scope: 'send',
  id: 'startVerification',
  summary: 'Sends a code to a phone number, or sends it again.',
  description: `Sends a code to a Polish mobile number by an SMS of the account, which costs what any other does. It leaves at once, whatever the sending hours, and also to who opted out of messages: they asked for it. The text is fixed. The code is shown nowhere: in its place the message, whose \`reference\` is the verification's id, has asterisks. While the last verification of the number is \`pending\`, this sends the same code again and starts its time anew; guesses and \`code_length\` stay. ${ADDITION}`,
  statusTexts: {
    402: 'The balance is too low, or a monthly statement is overdue. Nothing was sent.',
    403: 'The key lacks the scope, the account is suspended or closed, a test account verifies a number that is not its own, or a test key is used on a live account.',
    409: 'The same `Idempotency-Key` came with other content, or its first request is still under way.',
    422: '`to` is no Polish mobile number, is on the blacklist of the account otherwise than by opting out, or no route leads there; or `from` is not an active sender of the account.',
    429: 'Too many requests, or too many codes to this number (`param: to`) without one being confirmed: 3 in 10 minutes, 10 in 24 hours. `Retry-After` says when to come back.',
  },
  errors: [402, 422, 503],
  idempotent: true,
  body: z.strictObject({
    to: msisdn.describe('The phone number.'),
    locale: documented(omissibleWithDefault(z.enum(LOCALES), 'pl'), 'The language of the text.', 'pl'),
    ttl: documented(
      omissibleWithDefault(z.int().min(TTL.least).max(TTL.most), TTL.standard),
      'How long the code is valid, in seconds.',
      TTL.standard,
    ),
    code_length: documented(
      omissibleWithDefault(z.int().min(CODE_LENGTH.least).max(CODE_LENGTH.most), CODE_LENGTH.standard),
      'Digits of the code.',
      CODE_LENGTH.standard,
    ),
    from: documented(
      omissible(senderName),
      'An active sender of the account; its default when left out.',
      'SKLEP',
    ),
  }),
  example: { to: '+48500100200', locale: 'pl' },
  responses: { 201: verificationSchema },
  async handle(call) {
    const { code_length: codeLength, ...input } = call.body;
    const sent = await verify({ ...call, input: { ...input, codeLength } }, call.idempotencyKeys);
    return { status: 201, body: sent.body, ...replayHeader(sent.replayed) };
  },
});

const byId = z.strictObject({ id: pathId('ver') });

/** POST /v1/verifications/{id}/check (our addition). */
export const checkVerification = endpoint({
  method: 'POST',
  path: '/v1/verifications/:id/check',
  scope: 'send',
  id: 'checkVerification',
  summary: 'Checks a code.',
  description: `Compares a code with the one that was sent, as one of ${GUESSES_MAX} guesses. After the right one the verification is \`approved\`, and the webhook gets \`verification.approved\`; after a wrong one it is still \`pending\`, after the fifth \`failed\`. What has ended is answered as it is. ${ADDITION}`,
  statusTexts: { 409: 'The verification is approved, and this is not its code.' },
  errors: [409],
  params: byId,
  body: z.strictObject({
    code: documented(z.string().regex(/^[0-9]{4,8}$/), 'The code as the person gives it.', '123456'),
  }),
  example: { code: '123456' },
  responses: { 200: verificationSchema },
  async handle(call) {
    return { status: 200, body: await check({ ...call, input: { ...call.params, ...call.body } }) };
  },
});

/** GET /v1/verifications/{id} (our addition). */
export const getVerification = endpoint({
  method: 'GET',
  path: '/v1/verifications/:id',
  scope: 'read',
  id: 'getVerification',
  summary: 'Shows a verification.',
  description: `One verification as it is now. ${ADDITION}`,
  params: byId,
  responses: { 200: verificationSchema },
  async handle({ services, caller, params }) {
    const row = await readVerification(services.sql, caller.accountId, params.id);
    if (row === null) throw new Refused({ reason: 'verification_unknown' });
    return { status: 200, body: verificationRecord(row) };
  },
});
