/** What a user data header (3GPP TS 23.040, 9.2.3.24) says that matters here. */
export interface UserData {
  /** What follows the header. */
  content: Buffer;
  concatenation: Concatenation | null;
}

export interface Concatenation {
  /** With the kind of the numbering: an 8-bit and a 16-bit reference are never the same. */
  reference: string;
  total: number;
  /** From 1 to `total`. */
  number: number;
}

const IEI_CONCATENATION_8 = 0x00;
const IEI_CONCATENATION_16 = 0x08;

/** The header of one part with an 8-bit reference, 6 octets (9.2.3.24.1). */
export function concatenationHeader(reference: number, total: number, number: number): Buffer {
  return Buffer.from([5, IEI_CONCATENATION_8, 3, reference & 0xff, total, number]);
}

/**
 * Separates the header from the content. A header longer than all there is, is none: some SMSCs announce headers where
 * there are none, and the words would be lost. Elements that lie about their length end the reading of the header.
 */
export function readUserData(bytes: Buffer): UserData {
  const length = bytes[0];
  if (length === undefined || length + 1 > bytes.length) return { content: bytes, concatenation: null };
  const header = bytes.subarray(1, 1 + length);
  return { content: bytes.subarray(1 + length), concatenation: readConcatenation(header) };
}

// Of two concatenation elements the last one counts (9.2.3.24).
function readConcatenation(header: Buffer): Concatenation | null {
  let found: Concatenation | null = null;
  for (let at = 0; at + 2 <= header.length;) {
    const iei = header.readUInt8(at);
    const length = header.readUInt8(at + 1);
    const value = header.subarray(at + 2, at + 2 + length);
    if (value.length < length) break;
    if (iei === IEI_CONCATENATION_8 && length === 3) {
      found = concatenation(`udh8:${value.readUInt8(0)}`, value.readUInt8(1), value.readUInt8(2)) ?? found;
    } else if (iei === IEI_CONCATENATION_16 && length === 4) {
      found =
        concatenation(`udh16:${value.readUInt16BE(0)}`, value.readUInt8(2), value.readUInt8(3)) ?? found;
    }
    at += 2 + length;
  }
  return found;
}

/** Null for numbers that cannot be: such an element is to be ignored (9.2.3.24.1). */
export function concatenation(reference: string, total: number, number: number): Concatenation | null {
  return number >= 1 && number <= total && total <= 255 ? { reference, total, number } : null;
}
