import { optionsOf } from '../../domain/smsOptions.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import { idxOf } from './reference.ts';
import type { SmsapiSettings } from './settings.ts';

// The provider cuts into ten parts at most (https://www.smsapi.pl/docs/#2-pojedynczy-sms, `max_parts`).
const MAX_PARTS = 10;
const MINUTE_MS = 60_000;

/** The fields of a form, in their order. */
export type Form = Record<string, string>;

/**
 * Whether a text holds what the provider replaces by something of its own: `[%imie%]`, `[%1%]`, `[%idzdo:…%]`
 * (https://www.smsapi.pl/docs/#3-masowe-wysylanie-smsow). There is no way to send such a text as it is written.
 */
export function wouldBeReplaced(text: string): boolean {
  return /\[%[^\]]*%\]/.test(text);
}

/**
 * The form of `POST /sms.do` for one whole message (https://www.smsapi.pl/docs/#2-pojedynczy-sms). `check_idx` makes the
 * provider refuse an `idx` that it has seen in the last 24 hours, so that nothing can be sent twice.
 *
 * @param notifyUrl where delivery reports are to go; null: where the provider's panel says
 * @param now epoch milliseconds
 */
export function smsForm(
  part: SubmitPart,
  settings: SmsapiSettings,
  notifyUrl: string | null,
  now: number,
): Form {
  const sender = settings.sender ?? part.sender;
  const idx = idxOf(part.reference);
  return {
    to: digits(part.destination),
    ...(sender === null ? {} : { from: sender }),
    message: part.text,
    encoding: 'utf-8',
    format: 'json',
    details: '1',
    max_parts: String(MAX_PARTS),
    ...(idx === null ? {} : { idx, check_idx: '1' }),
    expiration_date: String(expirationOf(part.expiresAt, settings, now)),
    ...(part.priority && settings.fastPriority ? { fast: '1' } : {}),
    ...(optionsOf(part.content).flash ? { flash: '1' } : {}),
    ...(notifyUrl === null ? {} : { notify_url: notifyUrl }),
  };
}

/**
 * The form of `POST /hlr.do` (https://www.smsapi.pl/docs/#11-hlr).
 * @param msisdn E.164 with plus
 */
export function lookupForm(msisdn: string): Form {
  return { number: digits(msisdn), format: 'json' };
}

/** The end of delivery attempts in UNIX seconds, as near to the message's own as the provider takes it. */
function expirationOf(expiresAt: Date, settings: SmsapiSettings, now: number): number {
  const least = now + settings.validityMinMinutes * MINUTE_MS;
  const most = now + settings.validityMaxMinutes * MINUTE_MS;
  return Math.ceil(Math.min(Math.max(expiresAt.getTime(), least), most) / 1000);
}

function digits(msisdn: string): string {
  return msisdn.replace(/^\+/, '');
}
