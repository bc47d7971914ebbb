import { z } from 'zod';
import { type Draft, writeDrafts, writeDraftsWithKey } from '../../db/messages/drafts.ts';
import { countryOf } from '../../domain/msisdn.ts';
import { render } from '../../domain/placeholders.ts';
import { messageRecord } from '../../domain/records.ts';
import { addIds } from '../../telemetry/ids.ts';
import { type Call, type Caller, endpoint } from '../http/endpoint.ts';
import { paymentRequired } from '../http/errors.ts';
import { batchResultSchema, messageSchema } from '../schemas.ts';
import { acceptDrafts } from './acceptance.ts';
import { conflict, findReplay, type Fingerprint, fingerprintOf, REPLAYED } from './idempotency.ts';
import { ownLinks } from './personalLinks.ts';
import { type Plan, planMessages } from './plan.ts';
import { SEND_BODY_LIMIT, sendRequest, type SendRequest } from './request.ts';

const PATH = '/v1/messages';

type SendCall = Call<unknown, unknown, SendRequest, Caller>;
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
    const { services, caller, idempotencyKey } = call;
    const keyed = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprint(call) };
    const replay = keyed === null ? null : await replayOf(call, keyed);
    if (replay !== null) return replay;

    const plan = await planMessages(call);
    if (plan.terms.overdue) throw paymentRequired('statement_overdue');
    const drafts = await draftMessages(call, plan);
    const accepted = answerOf(drafts, caller);
    if (!plan.batched) addIds({ messageId: drafts[0]!.id });
    if (keyed === null) {
      await writeDrafts(services.sql, drafts);
    } else {
      const { key, fingerprint } = keyed;
      const claim = { key, fingerprint: fingerprint.keyed, acceptedStatus: 201, acceptedBody: accepted };
      if (!(await writeDraftsWithKey(services.sql, drafts, claim))) {
        const other = await replayOf(call, keyed);
        if (other === null) throw conflict('idempotency_in_progress');
        return other;
      }
    }

    const resolution = await acceptDrafts(services, drafts, call.receivedAt);
    if (resolution === 'insufficient_funds') throw paymentRequired(resolution);
    return { status: 201, body: accepted };
  },
});

interface Keyed {
  key: string;
  fingerprint: Fingerprint;
}

const fingerprint = ({ services, body }: SendCall): Fingerprint =>
  fingerprintOf(services.secretsKey, 'POST', PATH, body);

async function replayOf({ services, caller }: SendCall, { key, fingerprint }: Keyed) {
  const replay = await findReplay(services.sql, caller.accountId, key, fingerprint);
  return replay === null ? null : { status: 201 as const, body: replay.body as Accepted, headers: REPLAYED };
}

/** The plan with every recipient's own links in its text, ready to be written. */
async function draftMessages({ services, caller, body, requestId }: SendCall, plan: Plan): Promise<Draft[]> {
  const { terms, timing, sender, wording } = plan;
  const msisdns = plan.messages.map(({ recipient }) => recipient.msisdn);
  const { sql, shortUrl } = services;
  const linksOf = await ownLinks(sql, caller.accountId, sender, wording, shortUrl, msisdns);
  const now = new Date(terms.now);
  return plan.messages.map(({ id, carrier, recipient, values, parts, rejected, costGrosze }) => {
    // As long as the samples that the plan measured.
    const links = linksOf(recipient.msisdn);
    const acceptedAs = rejected ? 'rejected' : timing.acceptedAs;
    return {
      id,
      account_id: caller.accountId,
      request_id: requestId,
      batched: plan.batched,
      type: 'sms',
      status: acceptedAs,
      accepted_as: acceptedAs,
      recipient: recipient.msisdn,
      country: countryOf(recipient.msisdn),
      sender,
      text: render(wording.pieces, { values, ...links }),
      parts,
      links: links.tokens,
      cost_grosze: costGrosze,
      test_credits: terms.mode === 'test' && !rejected ? 1 : 0,
      priority: plan.priority,
      reference: body.reference ?? null,
      send_at: rejected ? null : timing.sendAt,
      expires_at: timing.expiresAt,
      give_up_at: timing.giveUpAt,
      carrier,
      delivered_at: null,
      error_code: rejected ? 'blacklisted' : null,
      created_at: now,
      updated_at: now,
    };
  });
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
