import type { SubmitPart } from '../../domain/submission.ts';
import { encodeGsm7 } from '../../domain/gsm7.ts';
import { optionsOf } from '../../domain/smsOptions.ts';
import { destinationAddress, senderAddress } from './addresses.ts';
import type { SubmitFields } from './pdus.ts';
import type { SmppSettings } from './settings.ts';
import { concatenationHeader } from './udh.ts';
import { validityPeriod } from './validity.ts';

/** What of a route's settings the content of a submit depends on. */
export type ContentSettings = Pick<
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

const USER_DATA_HEADER = 0x40; // esm_class, 5.2.12
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
  /** Whether it fits into one SMS, so that nobody has to cut it. */
  fits: boolean;
}

/** All of a submit_sm (SMPP 3.4, 4.4.1) that depends on the message: one part, or a whole one with `payload`. */
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

/** Puts the bytes where the route wants them, with what joins the parts of a message. */
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

/**
 * GSM-7 goes unpacked under data_coding 0 where that means GSM-7, else UCS-2 under 8.
 *
 * Where 0 means ISO 8859-1 the SMSC makes GSM-7 of it for the air, so the text keeps its length as we cut and billed it.
 * The eleven characters of GSM-7 that ISO 8859-1 lacks (euro and Greek) go as UCS-2 where the part has room for it; else
 * as GSM-7 under 0xF1, the one code that names GSM-7 whatever the SMSC's default is (5.2.19; 3GPP TS 23.038, 4).
 *
 * What names the class of a message names its alphabet too, so a flash SMS goes the same way to every SMSC.
 */
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
