import { createSemaphore } from '../concurrency/semaphore.ts';
import { hasSqlState, SQLSTATE } from '../db/connection.ts';

// Longer than other charges of an account keep its money locked.
const QUICK_LOCK_MS = 20;
// An account whose money is locked for longer than that holds up few connections of this process, however many charges it has.
const PATIENT_CHARGES = 2;
const PATIENT_LOCK_MS = 2_000;
// The activity is given up and repeated soon after.
const PATIENCE_MS = 8_000;

// Of all workers of this process, which share its connections.
const patient = createSemaphore({ places: PATIENT_CHARGES });

/**
 * Charges an account whose money others may have locked: that is waited for briefly, then in one of a few places.
 * @param charge is given how long it may wait for a lock, and is called again where that was too short
 * @throws what `charge` throws; where others keep the lock, or wait for one, too long
 */
export async function withMoneyLocked<T>(charge: (lockMs: number) => Promise<T>): Promise<T> {
  try {
    return await charge(QUICK_LOCK_MS);
  } catch (error) {
    if (!hasSqlState(error, SQLSTATE.lockNotAvailable)) throw error;
  }
  const limit = {
    until: Date.now() + PATIENCE_MS,
    error: () => new Error('others wait for the same lock'),
  };
  return await patient.run(undefined, () => charge(PATIENT_LOCK_MS), limit);
}
