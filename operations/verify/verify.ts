import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import type { OwnNumber } from '../../db/verifications/ownNumbers.ts';
import * as stored from '../../db/verifications/verifications.ts';
import { isPolishMobile } from '../../domain/msisdn.ts';
import { Refused } from '../../domain/refusals.ts';
import {
  codeText,
  type Locale,
  type VerificationRecord,
  verificationRecord,
  type VerificationRow,
} from '../../domain/verifications.ts';
import type { OperationContext } from '../context.ts';
import { accept } from '../sending/accept.ts';
import { claimsOf, type IdempotencyKey, type Keyed, sendOnce, type Sent } from '../sending/idempotency.ts';
import { newMessages } from '../sending/newMessages.ts';
import { ANY_TIME, planMessages } from '../sending/plan.ts';
import { acceptingOf, paymentRefusal, type SendInput } from '../sending/send.ts';
import { isCodeOf, maskedCode } from './code.ts';

export interface VerifyInput {
  /** E.164 with plus. */
  to: string;
  locale: Locale;
  /** Validity of the code, in seconds. */
  ttl: number;
  codeLength: number;
  from?: string | undefined;
  /** Where the installation sends it, for somebody's own number. */
  own?: OwnNumber;
}

/**
 * Sends a code to a Polish mobile number, as an SMS of the account: at once, whatever its window, and also where the person opted out, as
 * they asked for it. While the number's last verification is pending, its code is sent again and its time starts anew. @throws Refused
 */
export async function verify(
  context: OperationContext<VerifyInput>,
  keys: readonly IdempotencyKey[],
): Promise<Sent<VerificationRecord>> {
  const { input } = context;
  if (!isPolishMobile(input.to)) throw new Refused({ reason: 'recipient_not_mobile' }, 'to');
  const resolve = async () => {
    const { sender } = await planMessages(smsOf(context, { id: '', codeLength: input.codeLength }));
    return { verification: { ...input, from: sender } };
  };
  const keyed = { keys, content: { written: { verification: input }, resolve } };
  return await sendOnce(context, keyed, () => sendCode(context, keyed));
}

async function sendCode(context: OperationContext<VerifyInput>, keyed: Keyed): Promise<VerificationRecord> {
  const { services, caller, input } = context;
  const { accountId } = caller;
  const pending = await stored.readPending(services.sql, accountId, input.to, input.own);
  const { id, codeLength } = pending ?? { id: newId('ver'), codeLength: input.codeLength };
  const sms = smsOf(context, { id, codeLength });
  const plan = await planMessages(sms);
  if (plan.messages[0]!.rejected) throw new Refused({ reason: 'recipient_blacklisted' }, 'to');
  const refusal = paymentRefusal(plan);
  if (refusal !== null) throw refusal;

  const messages = await newMessages(sms, plan);
  const { createdAt: now, costGrosze } = messages[0]!;
  const row: VerificationRow = {
    ...{ id, msisdn: input.to, status: 'pending', codeLength, approvedAt: null },
    guesses: pending?.guesses ?? 0,
    codes: (pending?.codes ?? 0) + 1,
    costGrosze: (pending?.costGrosze ?? 0) + costGrosze,
    expiresAt: new Date(now.getTime() + input.ttl * 1_000),
    createdAt: pending?.createdAt ?? now,
    updatedAt: now,
  };
  const body = verificationRecord(row);
  const claims = await claimsOf(services, keyed, body);
  const also = (tx: Sql) => stored.recordCode(tx, accountId, row, pending, input.own);
  try {
    await accept(context, { ...acceptingOf(context, plan, messages, claims), also });
    return body;
  } catch (error) {
    // Sent again, guessed at or over meanwhile, which the limits let happen a few times only.
    if (error instanceof stored.PendingChangedError) return await sendCode(context, keyed);
    if (!(error instanceof stored.CodesTooManyError)) throw error;
    throw new Refused({ reason: 'codes_too_many', ...error.reached }, 'to');
  }
}

function smsOf(
  context: OperationContext<VerifyInput>,
  { id, codeLength }: Pick<VerificationRow, 'id' | 'codeLength'>,
): OperationContext<SendInput> {
  const { to, from, locale, ttl } = context.input;
  const text = codeText(locale, maskedCode(codeLength), ttl);
  const code = { of: id, validMs: ttl * 1_000 };
  return { ...context, input: { to, from, text, literal: true, send_window: ANY_TIME, reference: id, code } };
}

interface Checking {
  services: { sql: Sql; secretsKey: Buffer };
  caller: { accountId: string };
  input: { id: string; code: string };
}

/** Checks a code, as one of five guesses. Approved stays approved, and what failed or expired stays so. @throws Refused */
export async function check({
  services: { sql, secretsKey },
  caller: { accountId },
  input: { id, code },
}: Checking): Promise<VerificationRecord> {
  const found = await stored.readVerification(sql, accountId, id);
  if (found === null) throw new Refused({ reason: 'verification_unknown' });
  const isRight = isCodeOf(secretsKey, found, code);
  const counted = await stored.countGuess(sql, id, isRight);
  const row = counted ?? (await stored.readVerification(sql, accountId, id))!;
  // No answer with the status `approved` may stand for a wrong code.
  if (row.status === 'approved' && !isRight) throw new Refused({ reason: 'verification_over' }, 'code');
  return verificationRecord(row);
}
