import { ID_BODY } from '../../domain/ids.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';
import { mmsContentOf } from '../../domain/channels/mms.ts';
import { voiceContentOf } from '../../domain/channels/vms.ts';
import { optionsOf } from '../../domain/sms.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import { MAX_PARTS, type SmsapiSettings } from './settings.ts';

const REFERENCE = new RegExp(`^msg_(${ID_BODY})/(0|[1-9][0-9]{0,2})$`);
const IDX = new RegExp(`^msg(${ID_BODY})p(0|[1-9][0-9]{0,2})$`);

/** Our reference as `idx`, which has only letters and digits and ignores case: `msg_01k…/0` becomes `msg01k…p0`. Null for another form. */
export function idxOf(reference: string): string | null {
  const match = REFERENCE.exec(reference);
  return match === null ? null : `msg${match[1]}p${match[2]}`;
}

/** The reference of an `idx`; null when it is not ours. */
export function referenceOf(idx: string): string | null {
  const match = IDX.exec(idx.trim().toLowerCase());
  return match === null ? null : `msg_${match[1]}/${match[2]}`;
}

const MINUTE_MS = 60_000;

export type Form = Record<string, string>;

/**
 * Whether a text contains placeholders of the provider, which cannot be escaped: `[%imie%]`, `[%1%]`, `[%idzdo:…%]`
 * (https://www.smsapi.pl/docs/#3-masowe-wysylanie-smsow).
 */
export function hasPlaceholder(text: string): boolean {
  // The same as /\[%[^\]]*%\]/, which takes quadratic time for unclosed brackets.
  return text.split(']').slice(0, -1).some(isReplaced);
}

// `piece` is the text between two closing brackets.
function isReplaced(piece: string): boolean {
  const start = piece.indexOf('[%');
  return start >= 0 && piece.indexOf('%', start + 2) >= 0 && piece.endsWith('%');
}

export const SUBMIT_PATHS: Readonly<Record<Channel, string>> = {
  sms: '/sms.do',
  mms: '/mms.do',
  vms: '/vms.do',
};

/**
 * Submits one whole message. With `check_idx` the provider refuses an `idx` seen in the last 24 hours, so that nothing is sent twice.
 * @param notifyUrl for delivery reports; null: the one set in the provider's panel
 */
export function submitForm(
  part: SubmitPart,
  settings: SmsapiSettings,
  notifyUrl: string | null,
  now: number,
): Form {
  const idx = idxOf(part.reference);
  return {
    to: digits(part.destination),
    ...FORMS[part.channel](part, settings, now),
    format: 'json',
    details: '1',
    ...(idx === null ? {} : { idx, check_idx: '1' }),
    ...(notifyUrl === null ? {} : { notify_url: notifyUrl }),
  };
}

const FORMS: Readonly<Record<Channel, (part: SubmitPart, settings: SmsapiSettings, now: number) => Form>> = {
  sms: smsForm,
  // Neither sender nor expiry exist here (the provider's PHP client, `Api/Action/Mms/Send`).
  mms: ({ text, content }) => ({ subject: mmsContentOf(content).subject, smil: text }),
  vms: vmsForm,
};

function smsForm(part: SubmitPart, settings: SmsapiSettings, now: number): Form {
  const sender = settings.sender ?? part.sender;
  return {
    ...(sender === null ? {} : { from: sender }),
    message: part.text,
    encoding: 'utf-8',
    max_parts: String(MAX_PARTS),
    expiration_date: String(expirationOf(part.expiresAt, settings, now)),
    ...(part.priority && settings.fastPriority ? { fast: '1' } : {}),
    ...(optionsOf(part.content).flash ? { flash: '1' } : {}),
  };
}

// `try` is 1 to 6, `interval` 300 to 7200 s (the provider's PHP client, `Api/Action/Vms/Send`). There is no expiry, so fewer calls are
// ordered if the last ones would begin after the message's.
function vmsForm(part: SubmitPart, settings: SmsapiSettings, now: number): Form {
  const { text, sender, content } = part;
  const { voice, tries } = voiceContentOf(content);
  const inTime = 1 + Math.floor((part.expiresAt.getTime() - now) / (settings.callIntervalSeconds * 1000));
  return {
    ...(sender === null ? {} : { from: sender.replace(/^\+/, '') }),
    tts: text,
    tts_lector: voice,
    try: String(Math.max(Math.min(tries, inTime), 1)),
    interval: String(settings.callIntervalSeconds),
  };
}

/** The form of `POST /hlr.do` (https://www.smsapi.pl/docs/#11-hlr); `msisdn` is E.164 with plus. */
export function lookupForm(msisdn: string): Form {
  return { number: digits(msisdn), format: 'json' };
}

// Expiry in UNIX seconds, clamped to the validity that the provider accepts.
function expirationOf(expiresAt: Date, settings: SmsapiSettings, now: number): number {
  const least = now + settings.validityMinMinutes * MINUTE_MS;
  const most = now + settings.validityMaxMinutes * MINUTE_MS;
  return Math.ceil(Math.min(Math.max(expiresAt.getTime(), least), most) / 1000);
}

function digits(msisdn: string): string {
  return msisdn.replace(/^\+/, '');
}
