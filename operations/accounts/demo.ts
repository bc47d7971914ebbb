import { writeAudit } from '../../db/accounts/audit.ts';
import { activateSender, updateAccount } from '../../db/accounts/staff.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { claimFact } from '../../db/installation.ts';
import { ALL_SCOPES } from '../../domain/actor.ts';
import { openAccount } from './accounts.ts';
import { issueKey } from './keys.ts';

const FACT = 'demo_account';
const SENDER = 'DEMO';
const BALANCE_GROSZE = 50_00;

/** `apiKey` only if this call created the account: it is not stored. */
export interface DemoAccount {
  created: boolean;
  accountId: string;
  apiKey?: string;
}

/**
 * Creates the demo account on the first start: live, prepaid, 50 PLN, sender DEMO, a live key with all scopes. Later and concurrent calls
 * find it, whatever staff have changed.
 */
export async function ensureDemoAccount(sql: Database, actor: string): Promise<DemoAccount> {
  return sql.begin(async (transaction) => {
    const id = newId('cl');
    const fact = await claimFact(transaction, FACT, id);
    if (!fact.claimed) return { created: false, accountId: fact.value };

    const settings = { name: 'Demo', mode: 'live', billingMode: 'prepaid' } as const;
    await openAccount(transaction, { id, settings, balance: BALANCE_GROSZE });
    await activateSender(transaction, id, SENDER);
    await updateAccount(transaction, id, { senderName: SENDER });
    const { key, hint, id: keyId } = await issueKey(transaction, id, 'live', ALL_SCOPES);
    await writeAudit(transaction, {
      actor,
      action: 'demo account',
      account: id,
      subject: keyId,
      details: { hint, balance_grosze: BALANCE_GROSZE, sender: SENDER },
    });
    return { created: true, accountId: id, apiKey: key };
  });
}
