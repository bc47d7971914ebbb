import { Context, log } from '@temporalio/activity';
import { createSemaphore } from '../concurrency/semaphore.ts';
import { type Database, transaction } from '../db/connection.ts';
import { dueDomains, recordDomainCheck, readDomain } from '../db/emails/domains.ts';
import { type Applied, applyLook } from '../operations/email/domains/apply.ts';
import { type DnsServers, lookAt } from '../operations/email/domains/look.ts';
import type { DomainsLookedAt } from '../workflows/contracts.ts';

// 10 s each when no DNS server answers: 21 minutes in total.
const DOMAINS_PER_RUN = 1_000;
const AT_ONCE = 8;

/** The step of the workflow `senderDomains`; it may be interrupted and repeated at any point. */
export function senderDomainActivities(sql: Database, secretsKey: Buffer, dnsServers: DnsServers) {
  const services = { sql, secretsKey: () => Promise.resolve(secretsKey) };
  return {
    /** Checks the sender domains that are due, the longest unchecked first. */
    async checkSenderDomains(): Promise<DomainsLookedAt> {
      const { cancellationSignal } = Context.current();
      const places = createSemaphore({ places: AT_ONCE });
      const found: DomainsLookedAt = { looked: 0, verified: 0, lost: 0 };
      const lookNext = async (id: string): Promise<void> => {
        cancellationSignal.throwIfAborted();
        const applied = await look(id);
        found.looked += 1;
        if (applied?.event === 'domain.verified') found.verified += 1;
        if (applied?.event === 'domain.lost') found.lost += 1;
        Context.current().heartbeat();
      };
      const due = await dueDomains(sql, DOMAINS_PER_RUN);
      const looks = due.map((id) => places.run(undefined, () => lookNext(id)));
      const failed = (await Promise.allSettled(looks)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
      return found;
    },
  };

  async function look(id: string): Promise<Applied | null> {
    const domain = await readDomain(sql, id);
    if (domain === undefined) return null;
    try {
      const looks = await lookAt(services, domain, dnsServers);
      return await transaction(sql, (tx) => applyLook(tx, domain, looks, true));
    } catch (error) {
      // Marked as checked, or it would come first in every run from now on.
      log.warn('sender domains: one could not be looked at', { domain: id, error });
      await recordDomainCheck(sql, id);
      return null;
    }
  }
}
