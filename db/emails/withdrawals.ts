import type { Database } from '../connection.ts';
import { failEmail } from './handOver.ts';
import { type Addressee, concerns } from './retention.ts';

/** Fails and refunds, once, the e-mails to or from an address that were never submitted; their workflows find them so. @returns how many */
export async function withdrawEmails(sql: Database, addressee: Addressee): Promise<number> {
  const waiting = await sql<{ id: string }[]>`
    select e.id from emails e
     where ${concerns(sql, addressee)} and e.status = 'queued' and e.submission = 'waiting' order by e.id`;
  let withdrawn = 0;
  for (const { id } of waiting) {
    // One that was submitted meanwhile is left alone.
    if ((await failEmail(sql, id, 'erased', null)) === 'failed') withdrawn += 1;
  }
  return withdrawn;
}
