import type { DecidedByCharge } from '../../domain/acceptance.ts';
import type { Database, Sql } from '../connection.ts';

const CHANNEL = 'charged';
// Before the id of a request that is refused; one that is charged is named by its id alone, as ever.
const UNPAID = 'unpaid ';

/** What was decided about a request at its charge. */
export interface ChargeNotice {
  requestId: string;
  acceptance: DecidedByCharge;
}

/**
 * Lets every API process know which requests are charged, and which cannot be paid. In a statement of its own after the charge's commit: NOTIFY lets
 * only one transaction that notifies commit at a time on the whole server, and this one writes nothing that has to reach the disk.
 */
export async function notifyCharged(sql: Sql, notices: readonly ChargeNotice[]): Promise<void> {
  const payloads = notices.map(
    ({ requestId, acceptance }) => (acceptance.accepted ? '' : UNPAID) + requestId,
  );
  await sql`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) payload`;
}

/**
 * Listens for what is decided about requests, until the pool is ended; a notice sent while the connection is lost never comes.
 * @param listener a pool for this alone. Where this throws, it is to be ended: a LISTEN that was refused is not tried again.
 */
export async function listenForCharges(
  listener: Database,
  onDecided: (notice: ChargeNotice) => void,
): Promise<void> {
  await listener.listen(CHANNEL, (payload) => onDecided(noticeOf(payload)));
}

function noticeOf(payload: string): ChargeNotice {
  if (!payload.startsWith(UNPAID)) return { requestId: payload, acceptance: { accepted: true } };
  const acceptance = { accepted: false, reason: 'insufficient_funds' } as const;
  return { requestId: payload.slice(UNPAID.length), acceptance };
}
