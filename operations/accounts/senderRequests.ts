import { isActiveSender } from '../../db/accounts/accounts.ts';
import {
  type Application,
  decideSenderRequest,
  insertSenderRequest,
  lockSenderRequest,
  readSenderRequests,
  type SenderRequest,
} from '../../db/accounts/senderRequests.ts';
import type { Sql } from '../../db/connection.ts';
import { actorName } from '../../domain/actor.ts';
import { isSenderName } from '../../domain/msisdn.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import { canonicalText, isBlank } from '../../domain/text.ts';
import { recorded } from '../staff.ts';
import { findOpenAccountForUpdate } from './accounts.ts';
import { type By, mayManage } from './keys.ts';
import { activate } from './senders.ts';

const OPEN_MAX = 10;
const LENGTHS = { purpose: 500, applicant: 200 } as const;

/** Asks staff for a sender. @throws Refused naming the field, and where too many wait */
export const requestSender = recorded(
  'senders request',
  async (sql, { account, ...given }: Application & { account: string }, { actor }: By) => {
    if (!mayManage(actor, account)) throw new StaffRefused({ reason: 'account_missing', account });
    const name = given.name.trim();
    if (!isSenderName(name)) throw new Refused({ reason: 'sender_malformed', field: 'name' }, 'name');
    const said = { purpose: textOf(given, 'purpose'), applicant: textOf(given, 'applicant') };
    await findOpenAccountForUpdate(sql, account);
    const waiting = await readSenderRequests(sql, account, 'pending', OPEN_MAX);
    const isKnown = waiting.some((one) => one.name === name) || (await isActiveSender(sql, account, name));
    if (isKnown) throw new Refused({ reason: 'sender_known' }, 'name');
    if (waiting.length === OPEN_MAX)
      throw new Refused({ reason: 'sender_requests_too_many', limit: OPEN_MAX });
    const id = await insertSenderRequest(sql, { account, by: actorName(actor), name, ...said });
    return { data: { id }, account, subject: name, details: { request: id } };
  },
);

function textOf(given: Application, field: keyof typeof LENGTHS): string {
  const text = canonicalText(given[field]).trim();
  if (isBlank(text)) throw new Refused({ reason: 'field_missing', field }, field);
  const limit = LENGTHS[field];
  if ([...text].length > limit)
    throw new Refused({ reason: 'field_too_long', field, limit, unit: 'characters' }, field);
  return text;
}

interface Decision {
  request: string;
  /** For the account to read. */
  reason: string | null;
}

/** Approves a request: the sender is active from then on. @throws StaffRefused */
export const approveSender = recorded('senders approve', async (sql, { request: id, reason }: Decision) => {
  const request = await lockPending(sql, id);
  await activate(sql, { account: request.accountId, name: request.name });
  await decideSenderRequest(sql, id, 'approved', reason);
  return decided(request, reason);
});

/** Rejects a request. @throws StaffRefused */
export const rejectSender = recorded('senders reject', async (sql, { request: id, reason }: Decision) => {
  const request = await lockPending(sql, id);
  await decideSenderRequest(sql, id, 'rejected', reason);
  return decided(request, reason);
});

async function lockPending(sql: Sql, id: string): Promise<SenderRequest> {
  const request = await lockSenderRequest(sql, id);
  if (request === undefined) throw new StaffRefused({ reason: 'sender_request_missing', request: id });
  if (request.state !== 'pending')
    throw new StaffRefused({ reason: 'sender_request_decided', request: id, state: request.state });
  return request;
}

function decided({ id, accountId: account, name }: SenderRequest, reason: string | null) {
  const details = { request: id, ...(reason === null ? {} : { reason }) };
  return { data: { account, name }, account, subject: name, details };
}
