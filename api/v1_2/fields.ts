import { z } from 'zod';
import { EARLIER_SEND_AT_HORIZON_MS, IDX_MAX } from '../../domain/earlierInterface.ts';
import { Refused } from '../../domain/refusals.ts';
import { documented } from '../documented.ts';
import { instant, issue, msisdn, omissible, plainText, senderName } from '../fields.ts';

const SENDER_MAX = 11;
const MESSAGE_MAX = 10_000;
const DAYS = EARLIER_SEND_AT_HORIZON_MS / (24 * 3_600_000);

/** A recipient; stays as it was written, as the operation reads it. */
export const to = documented(msisdn, 'The recipient, with country prefix.', '+48500100200');

export const message = documented(
  plainText.min(1).max(MESSAGE_MAX),
  'The text: up to 70 characters are one part with `utf-8`, up to 160 with `gsm`; longer texts are concatenated, of 67 or 153 characters a part.',
  'Dzień dobry!',
);

/** A sender's name (v1.2.0, POST /v1/sms, `from`). */
export const from = documented(
  omissible(senderName.max(SENDER_MAX)),
  'An active sender of the account; its default when left out.',
  'SKLEP',
);

/** At most 60 days ahead (v1.2.0, Limits); in the past means at once. */
export const date = documented(
  omissible(
    instant.refine(
      (at) => at <= Date.now() + EARLIER_SEND_AT_HORIZON_MS,
      issue({ reason: 'send_at_too_far', days: DAYS }),
    ),
  ),
  'When to send, at most 60 days ahead; at once when left out.',
  '2026-12-24T09:00:00+01:00',
);

export const encoding = documented(
  omissible(z.enum(['utf-8', 'gsm'])),
  '`utf-8` keeps all letters; `gsm` takes those of GSM-7 alone.',
  'utf-8',
);

/** The caller's identifier, which is an idempotency key as well. */
export const idx = documented(
  omissible(plainText.min(1).max(IDX_MAX)),
  'Your own identifier, which comes back in webhooks. The same item again within 24 hours is not sent again; another one with it is refused.',
  'zam-1042',
);

/** How the fields of an operation are called in a request of this interface. */
export type FieldNames = Readonly<Record<string, string>>;

/**
 * Has what an operation refuses name the fields as the caller did.
 * @throws Refused
 */
export async function inTheirWords<T>(names: FieldNames, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refused ? renamed(error, (field) => names[field] ?? field) : error;
  }
}

/** The same refusal, its fields by other names. */
export function renamed({ refusal, param, cause }: Refused, nameOf: (field: string) => string): Refused {
  const named = 'field' in refusal ? { ...refusal, field: nameOf(refusal.field) } : refusal;
  return new Refused(named, param === null ? undefined : nameOf(param), cause);
}
