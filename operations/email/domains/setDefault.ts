import { setDefaultDomain as storeDefault } from '../../../db/emails/domains.ts';
import { Refused } from '../../../domain/refusals.ts';
import { recorded } from '../../staff.ts';
import { holdDomain, type NamedDomain, viewOf } from './find.ts';

/**
 * Makes a verified domain the one that e-mails of its account come from where they name no sender.
 * @throws Refused domain_malformed, domain_unknown, domain_not_verified
 */
export const setDefaultDomain = recorded('domains default', async (tx, named: NamedDomain) => {
  const domain = await holdDomain(tx, named);
  const { status } = await viewOf(tx, named);
  if (status !== 'verified') throw new Refused({ reason: 'domain_not_verified' }, 'name');
  await storeDefault(tx, domain);
  return {
    data: await viewOf(tx, named),
    ...{ account: domain.accountId, subject: domain.id, details: { name: domain.name } },
  };
});
