import { z } from 'zod';
import {
  type Draft,
  readSendTerms,
  type SendTerms,
  writeDrafts,
  writeDraftsWithKey,
} from '../../db/drafts.ts';
import { newId } from '../../db/ids.ts';
import { countParts, MAX_PARTS } from '../../domain/parts.ts';
import { messageCost, pricePerPart } from '../../domain/price.ts';
import { messageRecord } from '../../domain/records.ts';
import { type Call, type Caller, endpoint } from '../endpoint.ts';
import { ApiError, forbidden, invalidRequest, paymentRequired } from '../errors.ts';
import { instant, plainText, reference, sendWindow, senderName } from '../fields.ts';
import { batchResultSchema, messageSchema } from '../schemas.ts';
import { acceptDrafts } from './acceptance.ts';
import { conflict, findReplay, fingerprintOf, REPLAYED } from './idempotency.ts';
import { readRecipients, type Recipient } from './recipients.ts';
import { findTiming } from './timing.ts';

const PATH = '/v1/messages';
const BODY_LIMIT = 1024 * 1024;
const CARRIER = 'simulator';

const request = z.strictObject({
  to: z.union([z.string(), z.array(z.string())]),
  text: plainText.min(1),
  from: senderName.optional(),
  send_at: instant.optional(),
  send_window: sendWindow.optional(),
  expires_at: instant.optional(),
  reference: reference.optional(),
  priority: z.boolean().optional(),
});
type SendRequest = z.output<typeof request>;
type SendCall = Call<unknown, unknown, SendRequest, Caller>;
type Accepted = z.output<typeof messageSchema> | z.output<typeof batchResultSchema>;

/** POST /v1/messages (v2.3.0, Send): all recipients are accepted and charged together, or nothing is sent. */
export const sendMessages = endpoint({
  method: 'POST',
  path: PATH,
  scope: 'send',
  summary: 'Sends an SMS to one number or to several.',
  body: request,
  bodyLimit: BODY_LIMIT,
  idempotent: true,
  paid: true,
  responses: { 201: z.union([messageSchema, batchResultSchema]) },
  async handle(call) {
    const { services, caller, idempotencyKey } = call;
    const replay = idempotencyKey === null ? null : await replayOf(call, idempotencyKey);
    if (replay !== null) return replay;

    const drafts = await draftMessages(call);
    const accepted = answerOf(drafts, caller);
    if (idempotencyKey === null) {
      await writeDrafts(services.sql, drafts);
    } else {
      const fingerprint = fingerprintOf('POST', PATH, call.body);
      const claim = { key: idempotencyKey, fingerprint, acceptedStatus: 201, acceptedBody: accepted };
      if (!(await writeDraftsWithKey(services.sql, drafts, claim))) {
        const other = await replayOf(call, idempotencyKey);
        if (other === null) throw conflict('idempotency_in_progress');
        return other;
      }
    }

    const resolution = await acceptDrafts(services, drafts, call.receivedAt);
    if (resolution === 'insufficient_funds') throw paymentRequired(resolution);
    return { status: 201, body: accepted };
  },
});

async function replayOf({ services, caller, body }: SendCall, key: string) {
  const replay = await findReplay(services.sql, caller.accountId, key, fingerprintOf('POST', PATH, body));
  return replay === null ? null : { status: 201 as const, body: replay.body as Accepted, headers: REPLAYED };
}

/** Everything that can be refused is refused here, before anything is written. */
async function draftMessages({ services, caller, body, requestId }: SendCall): Promise<Draft[]> {
  const recipients = readRecipients(body.to);
  const parts = partsOf(body.text);
  const toVerify = caller.accountMode === 'test' ? recipients.map(({ msisdn }) => msisdn) : [];
  const terms = await readSendTerms(services.sql, caller.accountId, body.from ?? null, toVerify);
  if (terms === null) throw forbidden({ reason: 'account_closed' });

  const sender = senderOf(body.from, terms, services.settings.DEFAULT_SENDER);
  refuseUnverified(recipients, terms);
  const timing = findTiming(
    {
      sendAt: body.send_at ?? null,
      window: body.send_window ?? terms.send_window,
      expiresAt: body.expires_at ?? null,
    },
    terms.now,
  );
  if (terms.overdue) throw paymentRequired('statement_overdue');

  const now = new Date(terms.now);
  const priority = body.priority ?? false;
  return recipients.map(({ msisdn }) => ({
    id: newId('msg'),
    account_id: caller.accountId,
    request_id: requestId,
    batched: Array.isArray(body.to),
    type: 'sms',
    status: timing.acceptedAs,
    accepted_as: timing.acceptedAs,
    recipient: msisdn,
    sender,
    text: body.text,
    parts,
    cost_grosze: messageCost(parts, perPart(msisdn, priority, terms)),
    test_credits: terms.mode === 'test' ? 1 : 0,
    priority,
    reference: body.reference ?? null,
    send_at: timing.sendAt,
    expires_at: timing.expiresAt,
    give_up_at: timing.giveUpAt,
    carrier: CARRIER,
    delivered_at: null,
    error_code: null,
    created_at: now,
    updated_at: now,
  }));
}

function partsOf(text: string): number {
  const parts = countParts(text);
  if (parts > MAX_PARTS) throw invalidRequest({ reason: 'text_too_long', parts, limit: MAX_PARTS }, 'text');
  return parts;
}

function perPart(msisdn: string, priority: boolean, terms: SendTerms): number {
  const { price_per_part_grosze: domesticGrosze, country_rates: countryRates } = terms;
  return pricePerPart({ msisdn, priority, domesticGrosze, countryRates });
}

// The operator's default sender is everybody's; any other has to be active on the account's own list.
function senderOf(asked: string | undefined, terms: SendTerms, operatorDefault: string): string {
  if (terms.sender !== null) return terms.sender;
  if (asked === undefined || asked === operatorDefault) return operatorDefault;
  throw new ApiError(422, 'invalid_request', { reason: 'sender_inactive', sender: asked }, { param: 'from' });
}

function refuseUnverified(recipients: readonly Recipient[], { mode, unverified }: SendTerms): void {
  if (mode !== 'test' || unverified.length === 0) return;
  const first = recipients.find(({ msisdn }) => unverified.includes(msisdn));
  throw forbidden({ reason: 'recipient_unverified', index: first?.index ?? null }, 'to');
}

/** The answer if the charge accepts the drafts: a Message, or a BatchResult when `to` was an array. */
function answerOf(drafts: readonly Draft[], { accountMode }: Caller): Accepted {
  const messages = drafts.map(messageRecord);
  if (!drafts[0]!.batched) return messages[0]!;
  return {
    count: messages.length,
    accepted: messages.length,
    total_cost_grosze: messages.reduce((sum, { cost_grosze }) => sum + cost_grosze, 0),
    ...(accountMode === 'test' ? { test_mode: true as const } : {}),
    messages,
  };
}
