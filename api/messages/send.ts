import { z } from 'zod';
import { type Draft, LinksChangedError, writeDrafts, writeDraftsWithKey } from '../../db/messages/drafts.ts';
import { messageRecord } from '../../domain/records.ts';
import { addIds } from '../../telemetry/ids.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import { type Caller, endpoint } from '../http/endpoint.ts';
import { withinQuota } from '../http/quotas.ts';
import { batchResultSchema, messageSchema } from '../schemas.ts';
import { acceptDrafts } from './acceptance.ts';
import { draftMessages, type SendCall } from './draftMessages.ts';
import { findReplay, type Fingerprint, fingerprintOf, REPLAYED } from './idempotency.ts';
import { isAffordable, type Plan, planMessages } from './plan.ts';
import { SEND_BODY_LIMIT, sendRequest } from './request.ts';
import { messageQuotaRefusal, refuseLinksBeyond } from './room.ts';
import { Refused } from '../../domain/refusals.ts';

const PATH = '/v1/messages';
const LINK_ATTEMPTS = 10;

type Accepted = z.output<typeof messageSchema> | z.output<typeof batchResultSchema>;

/** POST /v1/messages (v2.3.0, Send): all recipients are accepted and charged together, or nothing is sent. */
export const sendMessages = endpoint({
  method: 'POST',
  path: PATH,
  scope: 'send',
  summary: 'Sends an SMS to one number, to several, or to contact groups.',
  body: sendRequest,
  bodyLimit: SEND_BODY_LIMIT,
  idempotent: true,
  paid: true,
  responses: { 201: z.union([messageSchema, batchResultSchema]) },
  async handle(call) {
    const keyed = keyOf(call);
    const replay = await replayOf(call, keyed);
    if (replay !== null) return replay;

    const plan = await planMessages(call);
    const refusal =
      paymentRefusal(plan) ?? (await messageQuotaRefusal(call.services.sql, call.caller.accountId, plan));
    // The first request with this key may have been accepted meanwhile, and taken the money.
    if (refusal !== null) return (await replayOf(call, keyed)) ?? refuse(refusal);
    if (!plan.batched) addIds({ messageId: plan.messages[0]!.id });
    const written = await withinQuota({ links: plan.wording.field }, writeMessages(call, plan, keyed));
    if ('replay' in written) return written.replay;

    const resolution = await acceptDrafts(call.services, written.drafts, call.receivedAt);
    if (resolution === 'insufficient_funds') throw new Refused({ reason: resolution });
    return { status: 201, body: written.accepted };
  },
});

interface Keyed {
  key: string;
  fingerprint: Fingerprint;
}

function keyOf({ services, body, idempotencyKey: key }: SendCall): Keyed | null {
  if (key === null) return null;
  return { key, fingerprint: fingerprintOf(services.secretsKey, 'POST', PATH, body) };
}

async function replayOf({ services, caller }: SendCall, keyed: Keyed | null) {
  if (keyed === null) return null;
  const replay = await findReplay(services.sql, caller.accountId, keyed.key, keyed.fingerprint);
  return replay === null ? null : { status: 201 as const, body: replay.body as Accepted, headers: REPLAYED };
}

/** What can be refused without a charge, before anything is written. */
function paymentRefusal(plan: Plan): Refused | null {
  if (plan.terms.overdue) return new Refused({ reason: 'statement_overdue' });
  if (isAffordable(plan)) return null;
  countRequested('insufficient_funds', plan.messages.length);
  return new Refused({ reason: 'insufficient_funds' });
}

function refuse(refusal: Refused): never {
  throw refusal;
}

/**
 * Writes the drafts with their links, and the claim of the key; or finds the answer that the key has.
 * @throws Refused while another request with the key is under way; QuotaReachedError
 */
async function writeMessages(call: SendCall, plan: Plan, keyed: Keyed | null) {
  for (let attempt = 1; ; attempt += 1) {
    const drafts = await draftMessages(call, plan);
    refuseLinksBeyond(plan, drafts);
    const accepted = answerOf(drafts, call.caller);
    try {
      if (await write(call, drafts, accepted, keyed)) return { drafts, accepted };
    } catch (error) {
      if (!(error instanceof LinksChangedError)) throw error;
      // Others write to the same people with the same links, and each attempt in vain means that one of them got on.
      if (attempt >= LINK_ATTEMPTS)
        throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' }, undefined, error);
      continue;
    }
    const replay = await replayOf(call, keyed);
    if (replay === null) throw new Refused({ reason: 'idempotency_in_progress' });
    return { replay };
  }
}

/** @returns false when the key is taken */
async function write(
  { services: { sql } }: SendCall,
  drafts: readonly Draft[],
  acceptedBody: Accepted,
  keyed: Keyed | null,
): Promise<boolean> {
  if (keyed === null) {
    await writeDrafts(sql, drafts);
    return true;
  }
  const { key, fingerprint } = keyed;
  const claim = { key, fingerprint: fingerprint.keyed, acceptedStatus: 201, acceptedBody };
  return await writeDraftsWithKey(sql, drafts, claim);
}

/** The answer if the charge accepts the drafts: a Message, or a BatchResult when `to` was an array or a group. */
function answerOf(drafts: readonly Draft[], { accountMode }: Caller): Accepted {
  const messages = drafts.map(messageRecord);
  if (!drafts[0]!.batched) return messages[0]!;
  return {
    count: messages.length,
    accepted: messages.filter(({ status }) => status !== 'rejected').length,
    total_cost_grosze: messages.reduce((sum, { cost_grosze }) => sum + cost_grosze, 0),
    ...(accountMode === 'test' ? { test_mode: true as const } : {}),
    messages,
  };
}
