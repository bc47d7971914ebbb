import { transaction } from '../../db/connection.ts';
import { listDomains } from '../../db/emails/domains.ts';
import { newId } from '../../db/ids.ts';
import { claimFact } from '../../db/installation.ts';
import type { StaffActor } from '../../domain/actor.ts';
import { addDomain, confirmDomain } from '../email/domains/manage.ts';
import type { StaffServices } from '../staff.ts';
import { openAccount } from './accounts.ts';

const FACT = 'own_email_account';
const DOMAIN = 'goniec.example';
// Ten million e-mails.
const BALANCE_GROSZE = 100_000_00;

/**
 * Creates, on the first start, the account that the service's own e-mails are sent from through the simulated network: with a balance and
 * a confirmed domain. Later calls find it, and complete what an interrupted one has left.
 */
export async function ensureOwnEmailAccount(services: StaffServices, actor: StaffActor): Promise<string> {
  const account = await transaction(services.sql, async (tx) => {
    const { value, claimed } = await claimFact(tx, FACT, newId('cl'));
    const settings = { name: 'Goniec', mode: 'live' } as const;
    if (claimed) await openAccount(tx, { id: value, settings, balance: BALANCE_GROSZE });
    return value;
  });
  const [domain] = await listDomains(services.sql, account);
  const input = { account, name: domain?.name ?? DOMAIN };
  if (domain === undefined) await addDomain({ services, actor, input });
  if ((domain?.confirmedAt ?? null) === null) await confirmDomain({ services, actor, input });
  return account;
}
