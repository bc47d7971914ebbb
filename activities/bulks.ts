import type { Database } from '../db/connection.ts';
import { settleReservation } from '../db/money/reservations.ts';
import { actOnNext } from '../operations/support/bulkItems.ts';
import type { StaffServices } from '../operations/staff.ts';
import type { BulkProgress } from '../workflows/contracts.ts';
import { withHeartbeat } from './failures.ts';

/** Run as a local activity; safe to repeat. */
export function bulkStartActivities(sql: Database) {
  return { takeBulk: (id: string): Promise<void> => settleReservation(sql, id) };
}

export function bulkActivities(services: StaffServices) {
  return {
    /** Acts on the next items, for staff; safe to repeat. */
    actOnNext: (id: string): Promise<BulkProgress> => withHeartbeat(() => actOnNext(services, id)),
  };
}
