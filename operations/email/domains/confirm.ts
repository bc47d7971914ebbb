import { Refused } from '../../../domain/refusals.ts';
import { recorded, type StaffOperation } from '../../staff.ts';
import { applyConfirmation } from './apply.ts';
import { type DomainView, holdDomain, type NamedDomain, viewOf } from './find.ts';
import { tryToNotify } from './notify.ts';

/**
 * For staff: answers for a domain, which is verified on every route from then on, whatever DNS says: where no DNS can be asked, as by
 * the simulated network. Only its removal ends it.
 * @throws Refused domain_malformed, domain_unknown
 */
export const confirmDomain: StaffOperation<NamedDomain, DomainView> = async (asked) => {
  const { services, input } = asked;
  const { domain, toDeliver } = await confirm(asked);
  if (toDeliver) await tryToNotify(services.temporal, domain);
  return await viewOf(services.sql, input);
};

const confirm = recorded('domains confirm', async (tx, named: NamedDomain) => {
  const domain = await holdDomain(tx, named);
  const applied = await applyConfirmation(tx, domain.id);
  if (applied === null) throw new Refused({ reason: 'domain_unknown' }, 'name');
  return {
    data: { domain, toDeliver: applied.toDeliver },
    ...{ account: domain.accountId, subject: domain.id, details: { name: domain.name } },
  };
});
