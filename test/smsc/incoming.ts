import { encodeGsm7, encodeUcs2 } from './text.ts';
import { encodeShortMessage, TAG, type Tlvs } from './wire.ts';

/** How an incoming message is written. */
export interface IncomingOptions {
  encoding?: 'gsm7' | 'ucs2' | 'latin1';
  /** Octets of text in one part; all in one unless told. UCS-2 may be cut inside a surrogate pair, as phones do. */
  cut?: number;
  header?: 'udh' | 'udh16' | 'sar';
  reference?: number;
  payload?: boolean;
  /** In place of the encoded text. */
  octets?: Buffer;
  /** In place of that of the encoding: what is written wrongly. */
  dataCoding?: number;
}

const DATA_CODING = { gsm7: 0, latin1: 3, ucs2: 8 };

/** A text from a phone as deliver_sm bodies, in the order of its parts. */
export function incoming(from: string, to: string, text: string, options: IncomingOptions = {}): Buffer[] {
  const { encoding = 'gsm7', header = 'udh', reference = 0, cut = Number.POSITIVE_INFINITY } = options;
  const encode = {
    gsm7: encodeGsm7,
    ucs2: encodeUcs2,
    latin1: (latin: string) => Buffer.from(latin, 'latin1'),
  };
  const octets = options.octets ?? encode[encoding](text);
  const total = Math.max(1, Math.ceil(octets.length / cut));
  return Array.from({ length: total }, (_, index) => {
    const content = total === 1 ? octets : octets.subarray(index * cut, (index + 1) * cut);
    const numbering = { reference, total, number: index + 1 };
    const udh = total > 1 && header !== 'sar' ? userDataHeader(header, numbering) : Buffer.alloc(0);
    const data = Buffer.concat([udh, content]);
    const tlvs: Tlvs = total > 1 && header === 'sar' ? sarTlvs(numbering) : new Map<number, Buffer>();
    if (options.payload) tlvs.set(TAG.messagePayload, data);
    return encodeShortMessage({
      source: from,
      sourceTon: 1,
      sourceNpi: 1,
      destination: to,
      destinationTon: 1,
      destinationNpi: 1,
      esmClass: udh.length > 0 ? 0x40 : 0,
      dataCoding: options.dataCoding ?? DATA_CODING[encoding],
      shortMessage: options.payload ? Buffer.alloc(0) : data,
      tlvs,
    });
  });
}

interface Numbering {
  reference: number;
  total: number;
  number: number;
}

function userDataHeader(kind: 'udh' | 'udh16', { reference, total, number }: Numbering): Buffer {
  return kind === 'udh'
    ? Buffer.from([5, 0x00, 3, reference & 0xff, total, number])
    : Buffer.from([6, 0x08, 4, (reference >> 8) & 0xff, reference & 0xff, total, number]);
}

function sarTlvs({ reference, total, number }: Numbering): Tlvs {
  return new Map([
    [TAG.sarMsgRefNum, Buffer.from([(reference >> 8) & 0xff, reference & 0xff])],
    [TAG.sarTotalSegments, Buffer.from([total])],
    [TAG.sarSegmentSeqnum, Buffer.from([number])],
  ]);
}
