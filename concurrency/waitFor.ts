const LATE = Symbol('late');

/**
 * Waits for work, but no longer than this. The work itself goes on: what it does must be harmless then, and that it fails
 * after all concerns nobody.
 * @param ms none or less: it has to be done already
 * @param late what it comes to instead; may throw
 */
export async function waitFor<T, Late>(work: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(ms, 0));
  });
  try {
    const first = await Promise.race([work, over]);
    return first === LATE ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}
