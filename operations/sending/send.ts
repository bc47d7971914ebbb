import { QuotaReachedError } from '../../db/accounts/quotas.ts';
import type { Sql } from '../../db/connection.ts';
import {
  areWrittenInStretches,
  type Draft,
  haveLinks,
  type KeyClaim,
  LinksChangedError,
  writeDrafts,
  writeDraftsTogether,
  writeDraftsWithKey,
} from '../../db/messages/drafts.ts';
import { type UnpaidRoom, withUnpaidRoom } from '../../db/messages/room.ts';
import { abandonRequest } from '../../db/messages/undecided.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import { Refused } from '../../domain/refusals.ts';
import { addIds } from '../../telemetry/ids.ts';
import { countRequested } from '../../telemetry/messageMetrics.ts';
import type { Asked } from '../asked.ts';
import { endIfGone } from '../endIfGone.ts';
import { withinQuota } from '../quotas.ts';
import { holdToolBudget, settleToolBudget } from '../toolBudget.ts';
import { acceptDrafts, isRejected } from './acceptance.ts';
import { draftMessages } from './draftMessages.ts';
import { findReplay, type Keyed, type Sent } from './idempotency.ts';
import type { SendInput } from './input.ts';
import { isAffordable, type Plan, planMessages, totalCost } from './plan.ts';
import { isGroup } from './recipients.ts';
import { messageQuotaRefusal, refuseLinksBeyond, unpaidRoom } from './room.ts';

const LINK_ATTEMPTS = 10;

/** How the door that a send came through answers it, and what makes it the same send as another. */
export interface Answering<Body> {
  /** Kept with the body for whoever repeats the key. */
  status: number;
  /** What the caller is answered if the drafts are accepted. */
  bodyOf: (drafts: readonly Draft[]) => Body;
  /** By its `Idempotency-Key`, or a field that is one; null where none came. */
  keyed: Keyed | null;
}

/**
 * Sends an SMS to each recipient (v2.3.0, Send): all are accepted and charged together, or nothing is sent.
 * @throws Refused
 */
export async function send<Body>(asked: Asked<SendInput>, answering: Answering<Body>): Promise<Sent<Body>> {
  const { services, input, requestId } = asked;
  if (typeof input.to !== 'string' || isGroup(input.to)) return await sendNow(asked, answering);
  const end = services.singles.announce(requestId);
  try {
    return await sendNow(asked, answering);
  } finally {
    end();
  }
}

async function sendNow<Body>(asked: Asked<SendInput>, answering: Answering<Body>): Promise<Sent<Body>> {
  const { services, caller, requestId } = asked;
  const replay = await findReplay<Body>(asked, answering.keyed);
  if (replay !== null) return replay;

  const plan = await planMessages(asked);
  const charging = { id: requestId, costGrosze: plan.terms.mode === 'test' ? 0 : totalCost(plan.messages) };
  const refusal =
    paymentRefusal(plan) ??
    (await messageQuotaRefusal(services.sql, caller.accountId, plan)) ??
    (await holdToolBudget(asked, charging, 'to'));
  // The first request with this key may have been accepted meanwhile, and taken the money.
  if (refusal !== null) return (await findReplay<Body>(asked, answering.keyed)) ?? refuse(refusal);
  try {
    return await sendPlanned(asked, plan, answering);
  } finally {
    await settleToolBudget(asked, charging);
  }
}

async function sendPlanned<Body>(
  asked: Asked<SendInput>,
  plan: Plan,
  answering: Answering<Body>,
): Promise<Sent<Body>> {
  const { services, requestId, receivedAt } = asked;
  if (!plan.batched) addIds({ messageId: plan.messages[0]!.id });
  const params = { links: plan.wording.field, unpaid_messages: 'to', unpaid_bytes: 'to' };
  const written = await withinQuota(params, writeMessages(asked, plan, answering));
  if ('replay' in written) return written.replay;
  await endIfGone(() => abandonRequest(services.sql, requestId));
  const resolution = await acceptDrafts(services, written.drafts, receivedAt, written.deciding);
  if (resolution === 'insufficient_funds') throw new Refused({ reason: resolution });
  return { body: written.body, replayed: false };
}

/** What can be refused without a charge, before anything is written. */
export function paymentRefusal(plan: Plan): Refused | null {
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
async function writeMessages<Body>(asked: Asked<SendInput>, plan: Plan, answering: Answering<Body>) {
  const { keyed, status: acceptedStatus } = answering;
  const room = unpaidRoom(asked.caller.accountId, plan);
  for (let attempt = 1; ; attempt += 1) {
    const drafts = await draftMessages(asked, plan);
    refuseLinksBeyond(plan, drafts);
    const body = answering.bodyOf(drafts);
    const claim = keyed === null ? null : { ...keyed, acceptedStatus, acceptedBody: body };
    try {
      const { isWritten, deciding } = await write(asked, drafts, claim, room);
      if (isWritten) return { drafts, body, deciding };
    } catch (error) {
      // The first request with this key may have taken the last places meanwhile.
      const taken = error instanceof QuotaReachedError ? await findReplay<Body>(asked, keyed) : null;
      if (taken !== null) return { replay: taken };
      if (!(error instanceof LinksChangedError)) throw error;
      // Others write to the same people with the same links, and each attempt in vain means that one of them got on.
      if (attempt >= LINK_ATTEMPTS)
        throw new Refused({ reason: 'send_abandoned', outage: 'timed_out' }, undefined, error);
      continue;
    }
    const replay = await findReplay<Body>(asked, keyed);
    if (replay === null) throw new Refused({ reason: 'idempotency_in_progress' }, keyed?.field ?? undefined);
    return { replay };
  }
}

/** A request that was written, unless its key was taken. */
interface Written {
  isWritten: boolean;
  /** Its charge where it is under way already; null where nobody has asked for it. */
  deciding: Promise<Acceptance> | null;
}

async function write(
  { services: { sql, singles }, receivedAt }: Asked<SendInput>,
  drafts: readonly Draft[],
  claim: KeyClaim | null,
  room: UnpaidRoom,
): Promise<Written> {
  const [draft, ...others] = drafts;
  if (others.length === 0 && !draft!.batched && !isRejected(draft!)) {
    const { written, deciding } = singles.accept({ draft: draft!, claim }, receivedAt);
    return { isWritten: await written, deciding };
  }
  if (areWrittenInStretches(drafts) && (claim !== null || haveLinks(drafts))) {
    const claims = claim === null ? [] : [claim];
    const taken = await writeDraftsTogether(sql, drafts, claims, room);
    return { isWritten: taken === null, deciding: null };
  }
  const writing = async (open: Sql): Promise<boolean> => {
    if (claim !== null) return await writeDraftsWithKey(open, drafts, claim);
    await writeDrafts(open, drafts);
    return true;
  };
  return { isWritten: await withUnpaidRoom(sql, room, writing), deciding: null };
}
