/**
 * Shares what is read among all who ask within a time. A reading that fails is not kept: the next one reads anew.
 * @param freshMs milliseconds from the beginning of a reading
 */
export function sharedReading<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  let readAt = -Infinity;
  return () => {
    if (known === undefined || performance.now() - readAt > freshMs) {
      readAt = performance.now();
      const reading = read();
      known = reading;
      reading.catch(() => {
        if (known === reading) known = undefined;
      });
    }
    return known;
  };
}
