import type { SenderDomain } from '../../../db/emails/domains.ts';
import { Refused } from '../../../domain/refusals.ts';
import { recorded, type StaffOperation } from '../../staff.ts';
import { applyLook } from './apply.ts';
import type { DnsServers } from './dns.ts';
import { type DomainView, findDomain, type NamedDomain, viewOf } from './find.ts';
import { lookAt, type RouteLook } from './look.ts';
import { tryToNotify } from './notify.ts';

/**
 * Looks now whether all that each route needs of a domain is there. What verifies it verifies it at once; what is gone makes a verified
 * one lost when it is still gone ten minutes later.
 * @throws Refused domain_malformed, domain_unknown
 */
export const checkDomain: StaffOperation<NamedDomain & { dnsServers: DnsServers }, DomainView> = async (
  asked,
) => {
  const { services, input } = asked;
  const domain = await findDomain(services.sql, input);
  const looks = await lookAt(services, domain, input.dnsServers);
  if (await noteLooks({ ...asked, input: { domain, looks } })) await tryToNotify(services.temporal, domain);
  return await viewOf(services.sql, input);
};

const noteLooks = recorded(
  'domains check',
  async (tx, { domain, looks }: { domain: SenderDomain; looks: RouteLook[] }) => {
    const applied = await applyLook(tx, domain, looks, true);
    if (applied === null) throw new Refused({ reason: 'domain_unknown' }, 'name');
    const { status, event, toDeliver } = applied;
    return {
      ...{ data: toDeliver, account: domain.accountId, subject: domain.id },
      details: { name: domain.name, status, ...(event === null ? {} : { event }) },
    };
  },
);
