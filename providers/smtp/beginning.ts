/** The beginning of something that comes in pieces. */
export interface Beginning {
  /** Takes the next piece: what of it is beyond the beginning is not kept. */
  take(piece: Buffer): void;
  bytes(): Buffer;
}

/** @param most so many bytes are kept */
export function createBeginning(most: number): Beginning {
  const pieces: Buffer[] = [];
  let kept = 0;
  return {
    take(piece) {
      if (kept >= most) return;
      const part = piece.subarray(0, most - kept);
      pieces.push(part);
      kept += part.length;
    },
    bytes: () => Buffer.concat(pieces),
  };
}
