import type { Database } from '../connection.ts';
import { failEmail } from './handOver.ts';
import { type Addressee, concerns } from './retention.ts';

/**
 * Gives up the e-mails to or from an address that no provider was given yet: each has failed and is refunded, once; its workflow finds it so.
 * @returns how many
 */
export async function withdrawEmails(sql: Database, addressee: Addressee): Promise<number> {
  const waiting = await sql<{ id: string }[]>`
    select e.id from emails e
     where ${concerns(sql, addressee)} and e.status = 'queued' and e.submission = 'waiting' order by e.id`;
  let withdrawn = 0;
  for (const { id } of waiting) {
    // One that left in between is left alone.
    if ((await failEmail(sql, id, 'erased', null)) === 'failed') withdrawn += 1;
  }
  return withdrawn;
}
