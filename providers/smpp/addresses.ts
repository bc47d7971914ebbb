import { parseAddress } from '../../domain/msisdn.ts';
import type { SmppSettings } from './settings.ts';

/** An address with its type of number and numbering plan (SMPP 3.4, 5.2.5 and 5.2.6). */
export interface SmppAddress {
  ton: number;
  npi: number;
  address: string;
}

const TON = { unknown: 0, international: 1, networkSpecific: 3, alphanumeric: 5 } as const;
const NPI = { unknown: 0, isdn: 1 } as const;
const SHORT_CODE = /^[0-9]{3,6}$/;
const DIGITS = /^[0-9]+$/;

/** @param msisdn E.164 with plus, which SMPP writes without: the type of number says that it is international */
export function destinationAddress(
  msisdn: string,
  settings: Pick<SmppSettings, 'destinationTon' | 'destinationNpi'>,
): SmppAddress {
  return {
    ton: settings.destinationTon ?? TON.international,
    npi: settings.destinationNpi ?? NPI.isdn,
    address: msisdn.replace(/^\+/, ''),
  };
}

/**
 * The source address of a sender: a name 5/0, a short code of 3 to 6 digits 3/0, a phone number 1/1 in full, other digits
 * 0/1. No sender is an empty address, for which the SMSC puts its own (SMPP 3.4, 4.4.1). The route's settings
 * override type and plan of all but the empty one.
 */
export function senderAddress(
  sender: string | null,
  settings: Pick<SmppSettings, 'senderTon' | 'senderNpi'>,
): SmppAddress {
  if (sender === null) return { ton: TON.unknown, npi: NPI.unknown, address: '' };
  const usual = usualSender(sender);
  return {
    ...usual,
    ton: settings.senderTon ?? usual.ton,
    npi: settings.senderNpi ?? usual.npi,
  };
}

function usualSender(sender: string): SmppAddress {
  if (SHORT_CODE.test(sender)) return { ton: TON.networkSpecific, npi: NPI.unknown, address: sender };
  const msisdn = parseAddress(sender);
  if (msisdn !== null) return { ton: TON.international, npi: NPI.isdn, address: msisdn.slice(1) };
  if (DIGITS.test(sender)) return { ton: TON.unknown, npi: NPI.isdn, address: sender };
  return { ton: TON.alphanumeric, npi: NPI.unknown, address: sender };
}

/**
 * A phone's address as the SMSC gave it, E.164 with plus; null when it is no phone number. Of one marked international
 * the plus is taken as said, because a short one would otherwise pass for a Polish number.
 */
export function phoneOf(ton: number, address: string): string | null {
  const digits = address.trim().replace(/^(\+|00)/, '');
  if (!DIGITS.test(digits)) return null;
  const international = ton === TON.international || digits.length < address.trim().length;
  return (international ? parseAddress(`+${digits}`) : null) ?? parseAddress(digits);
}
