import { newId } from '../../db/ids.ts';
import { acceptLookup } from '../../db/lookups/lookups.ts';
import type { LookupState } from '../../domain/submission.ts';
import { lookupStart } from '../../workflows/startOptions.ts';
import type { Pipeline } from './pipeline.ts';

/** Accepts a look-up as the API does before its workflow begins, and returns its id. */
export async function acceptedLookup({ sql }: Pipeline, accountId: string, ending = '000'): Promise<string> {
  const id = newId('hlr');
  const cost = { costGrosze: 5, spending: null };
  const lookup = { id, accountId, msisdn: `+48500100${ending}`, route: 'simulator', ...cost };
  const accepted = await acceptLookup(sql, lookup);
  if (accepted?.own !== true) throw new Error('another look-up of the number is under way');
  // It is asked within five seconds or not at all, and started by a worker after ten: however slow the machine is, these have not passed.
  await sql`update number_lookups set created_at = now() + interval '10 minutes' where id = ${id}`;
  await sql`update reservations set start_after = 'infinity' where subject_id = ${id}`;
  return id;
}

/** Starts the workflow of a look-up, or joins it, and waits for its outcome. */
export async function lookUp(
  { client }: Pipeline,
  accountId: string,
  id: string,
  route = 'simulator',
): Promise<LookupState> {
  const started = await client.workflow.start('lookup', lookupStart({ id, accountId, route }));
  return (await started.result()) as LookupState;
}
