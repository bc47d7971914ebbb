import { ID_BODY } from '../../domain/ids.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';
import { mmsContentOf } from '../../domain/channels/mms.ts';
import { voiceContentOf } from '../../domain/channels/vms.ts';
import { optionsOf } from '../../domain/sms.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import type { SmsapiSettings } from './settings.ts';

const REFERENCE = new RegExp(`^msg_(${ID_BODY})/(0|[1-9][0-9]{0,2})$`);
const IDX = new RegExp(`^msg(${ID_BODY})p(0|[1-9][0-9]{0,2})$`);

/**
 * Our reference as the provider's `idx`, which takes letters and digits only and does not tell capitals apart:
 * `msg_01k…/0` becomes `msg01k…p0`. Null for a reference of another form.
 */
export function idxOf(reference: string): string | null {
  const match = REFERENCE.exec(reference);
  return match === null ? null : `msg${match[1]}p${match[2]}`;
}

/** The reference that an `idx` stands for; null when it is none of ours. */
export function referenceOf(idx: string): string | null {
  const match = IDX.exec(idx.trim().toLowerCase());
  return match === null ? null : `msg_${match[1]}/${match[2]}`;
}

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
  // As /\[%[^\]]*%\]/ has it, which takes time by the square of what begins and never ends.
  return text.split(']').slice(0, -1).some(isReplaced);
}

/** @param piece what stands before a closing bracket, from the one before it on */
function isReplaced(piece: string): boolean {
  const start = piece.indexOf('[%');
  return start >= 0 && piece.indexOf('%', start + 2) >= 0 && piece.endsWith('%');
}

/** Where a message of each channel is posted to. */
export const SUBMIT_PATHS: Readonly<Record<Channel, string>> = {
  sms: '/sms.do',
  mms: '/mms.do',
  vms: '/vms.do',
};

/**
 * The form of a submit of one whole message. `check_idx` makes the provider refuse an `idx` that it has seen in the last 24
 * hours, so that nothing can be sent twice.
 *
 * @param notifyUrl where delivery reports are to go; null: where the provider's panel says
 * @param now epoch milliseconds
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

/** What is peculiar to each channel. */
const FORMS: Readonly<Record<Channel, (part: SubmitPart, settings: SmsapiSettings, now: number) => Form>> = {
  sms: smsForm,
  mms: mmsForm,
  vms: vmsForm,
};

/** Of `POST /sms.do` (https://www.smsapi.pl/docs/#2-pojedynczy-sms). */
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

/**
 * Of `POST /mms.do`: it names no sender and takes no end of delivery attempts (the provider's PHP client, `Api/Action/Mms/Send`).
 */
function mmsForm({ text, content }: SubmitPart): Form {
  return { subject: mmsContentOf(content).subject, smil: text };
}

/**
 * Of `POST /vms.do`: `try` 1 to 6, `interval` 300 to 7200 s between two calls (the provider's PHP client, `Api/Action/Vms/Send`). It
 * takes no end of delivery attempts, so that fewer calls are ordered where the last ones would begin after the message's.
 */
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
