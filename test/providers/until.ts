import { eventually } from '../support/eventually.ts';

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  await eventually(() => Promise.resolve(holds()), Boolean);
}
