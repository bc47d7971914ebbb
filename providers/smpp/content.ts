import { parseAddress } from '../../domain/msisdn.ts';
import type { SmppSettings } from './settings.ts';
import type { ByteEncoding } from '../../domain/incoming.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import { encodeGsm7 } from '../../domain/gsm7.ts';
import { optionsOf } from '../../domain/sms.ts';
import type { SubmitFields } from './wire.ts';
import { concatenationHeader } from './codec.ts';

interface SmppAddress {
  ton: number;
  npi: number;
  address: string;
}

const TON = { unknown: 0, international: 1, networkSpecific: 3, alphanumeric: 5 } as const;
const NPI = { unknown: 0, isdn: 1 } as const;
const SHORT_CODE = /^[0-9]{3,6}$/;
const DIGITS = /^[0-9]+$/;

function destinationAddress(
  msisdn: string,
  settings: Pick<SmppSettings, 'destinationTon' | 'destinationNpi'>,
): SmppAddress {
  return {
    ton: settings.destinationTon ?? TON.international,
    npi: settings.destinationNpi ?? NPI.isdn,
    address: msisdn.replace(/^\+/, ''),
  };
}

// TON and NPI: 5/0 for a name, 3/0 for a short code of 3 to 6 digits, 1/1 for a phone number in full, 0/1 for other digits. Without a
// sender the address is empty, and the SMSC sets its own (SMPP 3.4, 4.4.1). The settings override TON and NPI of all but the empty one.
function senderAddress(
  sender: string | null,
  settings: Pick<SmppSettings, 'senderTon' | 'senderNpi'>,
): SmppAddress {
  if (sender === null) return { ton: TON.unknown, npi: NPI.unknown, address: '' };
  const usual = usualSender(sender);
  return { ...usual, ton: settings.senderTon ?? usual.ton, npi: settings.senderNpi ?? usual.npi };
}

function usualSender(sender: string): SmppAddress {
  if (SHORT_CODE.test(sender)) return { ton: TON.networkSpecific, npi: NPI.unknown, address: sender };
  const msisdn = parseAddress(sender);
  if (msisdn !== null) return { ton: TON.international, npi: NPI.isdn, address: msisdn.slice(1) };
  if (DIGITS.test(sender)) return { ton: TON.unknown, npi: NPI.isdn, address: sender };
  return { ton: TON.alphanumeric, npi: NPI.unknown, address: sender };
}

/** E.164 with plus, or null. With TON international a plus is assumed, as a short number would otherwise pass for a Polish one. */
export function phoneOf(ton: number, address: string): string | null {
  const digits = address.trim().replace(/^(\+|00)/, '');
  if (!DIGITS.test(digits)) return null;
  const international = ton === TON.international || digits.length < address.trim().length;
  return (international ? parseAddress(`+${digits}`) : null) ?? parseAddress(digits);
}

const COMPRESSED = 0x20;
const ALPHABETS = ['gsm7', 'binary', 'ucs2', null] as const;

/**
 * Encoding of a data_coding (SMPP 3.4, 5.2.19; from 0x10 on 3GPP TS 23.038, 4); null for compressed text. Unsupported alphabets count as
 * ISO 8859-1: all contain ASCII's letters, so a reply such as STOP is understood.
 */
export function encodingOf(
  dataCoding: number,
  defaultAlphabet: SmppSettings['defaultAlphabet'],
): ByteEncoding | null {
  if (dataCoding === 0x00) return defaultAlphabet;
  if (dataCoding === 0x02 || dataCoding === 0x04) return 'binary';
  if (dataCoding === 0x08) return 'ucs2';
  if (dataCoding < 0x10) return 'latin1';
  if (dataCoding < 0x80)
    return (dataCoding & COMPRESSED) !== 0 ? null : (ALPHABETS[(dataCoding >> 2) & 3] ?? null);
  if (dataCoding < 0xc0) return 'latin1';
  if (dataCoding < 0xe0) return 'gsm7';
  if (dataCoding < 0xf0) return 'ucs2';
  return (dataCoding & 0x04) !== 0 ? 'binary' : 'gsm7';
}

const MINUTE_MS = 60_000;
const LONGEST_MS = 30 * 24 * 60 * MINUTE_MS;

// validity_period (SMPP 3.4, 7.1.1), rounded down to seconds: absolute `YYMMDDhhmmss000+` in UTC, relative `YYMMDDhhmmss000R`, or '' for
// the SMSC's default. At least a minute, as SMSCs refuse expired messages, and at most 30 days.
function validityPeriod(expiresAt: Date, now: Date, form: SmppSettings['validity']): string {
  const left = Math.min(Math.max(expiresAt.getTime() - now.getTime(), MINUTE_MS), LONGEST_MS);
  switch (form) {
    case 'absolute':
      return `${digitsOf(new Date(now.getTime() + left))}000+`;
    case 'relative':
      return `${duration(left)}000R`;
    case 'none':
      return '';
  }
}

function digitsOf(instant: Date): string {
  return instant.toISOString().slice(2, 19).replace(/\D/g, '');
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const units = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  return `0000${[...units, seconds % 60].map((n) => String(n).padStart(2, '0')).join('')}`;
}

type ContentSettings = Pick<
  SmppSettings,
  | 'serviceType'
  | 'senderTon'
  | 'senderNpi'
  | 'destinationTon'
  | 'destinationNpi'
  | 'longMessages'
  | 'validity'
  | 'priorityFlag'
  | 'defaultAlphabet'
>;

export const USER_DATA_HEADER = 0x40; // esm_class, 5.2.12
const FINAL_RECEIPT = 0x01; // registered_delivery, 5.2.17
const DATA_CODING = { smscDefault: 0, ucs2: 8, gsm7: 0xf1 } as const; // 5.2.19
// Message class 0 (3GPP TS 23.038, 4).
const FLASH = { gsm7: 0x10, ucs2: 0x18 } as const;
const ONE_SMS = { gsm7: 160, ucs2: 140 } as const; // octets in SMPP: septets are sent unpacked
const ONE_OF_SEVERAL_UCS2 = 134;
const LATIN1 = /^[\0-\u00FF]*$/;

interface Content {
  dataCoding: number;
  bytes: Buffer;
  fits: boolean;
}

/** The fields of a submit_sm (SMPP 3.4, 4.4.1) that depend on the message: one part, or a whole one with `payload`. */
export function submitFields(part: SubmitPart, settings: ContentSettings, now = new Date()): SubmitFields {
  const source = senderAddress(part.sender, settings);
  const destination = destinationAddress(part.destination, settings);
  const content = encode(part, settings.defaultAlphabet);
  return {
    service_type: settings.serviceType,
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.address,
    dest_addr_ton: destination.ton,
    dest_addr_npi: destination.npi,
    destination_addr: destination.address,
    priority_flag: part.priority ? settings.priorityFlag : 0,
    validity_period: validityPeriod(part.expiresAt, now, settings.validity),
    registered_delivery: FINAL_RECEIPT,
    data_coding: content.dataCoding,
    ...place(part, content, settings.longMessages),
  };
}

function place(
  { part, parts, concatReference }: SubmitPart,
  { bytes, fits }: Content,
  longMessages: ContentSettings['longMessages'],
): Pick<SubmitFields, 'esm_class' | 'short_message' | 'message_payload'> & Partial<SubmitFields> {
  if (longMessages === 'payload' && !fits) {
    return { esm_class: 0, short_message: Buffer.alloc(0), message_payload: bytes };
  }
  if (parts === 1) return { esm_class: 0, short_message: bytes };
  if (longMessages === 'sar') {
    return {
      esm_class: 0,
      short_message: bytes,
      sar_msg_ref_num: concatReference,
      sar_total_segments: parts,
      sar_segment_seqnum: part,
    };
  }
  const header = concatenationHeader(concatReference, parts, part);
  return { esm_class: USER_DATA_HEADER, short_message: Buffer.concat([header, bytes]) };
}

// GSM-7 is sent unpacked under data_coding 0 where that means GSM-7, else UCS-2 under 8.
// Where 0 means ISO 8859-1, the SMSC converts it to GSM-7, so the text keeps the length that was split and billed. The eleven characters of
// GSM-7 that ISO 8859-1 lacks (euro and Greek) are sent as UCS-2 if they fit into the part, else as GSM-7 under 0xF1, the one code that
// means GSM-7 whatever the SMSC's default is (5.2.19; 3GPP TS 23.038, 4).
// A code with a message class also names the alphabet, so flash SMS are encoded the same for every SMSC.
function encode(
  { text, encoding, parts, content }: SubmitPart,
  defaultAlphabet: ContentSettings['defaultAlphabet'],
): Content {
  const { flash } = optionsOf(content);
  if (encoding === 'ucs2') return ucs2(text, flash);
  const bytes = Buffer.from(encodeGsm7(text));
  const fits = bytes.length <= ONE_SMS.gsm7;
  if (flash) return { dataCoding: FLASH.gsm7, bytes, fits };
  if (defaultAlphabet === 'gsm7') return { dataCoding: DATA_CODING.smscDefault, bytes, fits };
  if (LATIN1.test(text)) {
    return { dataCoding: DATA_CODING.smscDefault, bytes: Buffer.from(text, 'latin1'), fits };
  }
  const wide = ucs2(text);
  const room = parts === 1 ? ONE_SMS.ucs2 : ONE_OF_SEVERAL_UCS2;
  return wide.bytes.length <= room ? wide : { dataCoding: DATA_CODING.gsm7, bytes, fits };
}

function ucs2(text: string, flash = false): Content {
  const bytes = Buffer.from(text, 'utf16le').swap16();
  return { dataCoding: flash ? FLASH.ucs2 : DATA_CODING.ucs2, bytes, fits: bytes.length <= ONE_SMS.ucs2 };
}
