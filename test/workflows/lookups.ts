import { WithStartWorkflowOperation } from '@temporalio/client';
import { newId } from '../../db/ids.ts';
import { claimLookup } from '../../db/lookups/lookups.ts';
import type { LookupState } from '../../domain/lookups.ts';
import { lookUpUpdate } from '../../workflows/contracts.ts';
import { lookupStart } from '../../workflows/startOptions.ts';
import type { Pipeline } from './pipeline.ts';
import { updateWithStart } from './updateWithStart.ts';

/** Writes a look-up as the API does before its workflow begins, and returns its id. */
export async function writtenLookup({ sql }: Pipeline, accountId: string, ending = '000'): Promise<string> {
  const id = newId('hlr');
  const claim = await claimLookup(sql, { id, accountId, msisdn: `+48500100${ending}`, costGrosze: 5 });
  if (claim?.own !== true) throw new Error('another look-up of the number is under way');
  // It is asked within five seconds or not at all: however slow the machine is, these have not passed.
  await sql`update number_lookups set created_at = now() + interval '10 minutes' where id = ${id}`;
  return id;
}

/** Starts the workflow of a look-up, or joins it, and waits for its outcome. */
export function lookUp(
  { client }: Pipeline,
  accountId: string,
  id: string,
  route = 'simulator',
): Promise<LookupState> {
  return updateWithStart(client, lookUpUpdate, {
    startWorkflowOperation: new WithStartWorkflowOperation('lookup', lookupStart({ id, accountId, route })),
    updateId: id,
  });
}
