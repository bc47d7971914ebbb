import { deleteFactors } from '../../db/people/factors.ts';
import { membershipsOf, personWith } from '../../db/people/people.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';

/**
 * Removes all second factors of a person and ends the sessions: for who has lost phone, passkeys and recovery codes, once staff know who
 * asks. @throws StaffRefused person_missing
 */
export const resetFactors = recorded('factors reset', async (tx, { address }: { address: string }) => {
  const person = await personWith(tx, address);
  if (person === undefined) throw new StaffRefused({ reason: 'person_missing', address });
  await deleteFactors(tx, person);
  const accounts = await membershipsOf(tx, person);
  const records = accounts.map(({ accountId: account }) => ({ account, subject: person }));
  return { data: { person }, subject: person, ...(records.length === 0 ? {} : { records }) };
});
