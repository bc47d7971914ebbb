import { writeAudit } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { claimFact } from '../../db/installation.ts';
import { activateSender, updateAccount } from '../../db/accounts/operators.ts';
import { openAccount } from './accounts.ts';
import { operatingUser } from './execute.ts';
import { issueKey } from './keys.ts';
import { ALL_SCOPES } from './values.ts';

const FACT = 'demo_account';
const SENDER = 'DEMO';
const BALANCE_GROSZE = 50_00;

/** The demo account; `apiKey` is there only when this call made it, as nobody can show a key twice. */
export interface DemoAccount {
  created: boolean;
  accountId: string;
  apiKey?: string;
}

/**
 * Makes the account that a first start offers for trying the service out: live, prepaid, 50 PLN, sender DEMO, one live
 * key with all scopes. Later calls find it again, whatever an operator has made of it since. Of two first starts at
 * once exactly one makes it.
 */
export async function ensureDemoAccount(sql: Database): Promise<DemoAccount> {
  return sql.begin(async (transaction) => {
    const id = newId('cl');
    const fact = await claimFact(transaction, FACT, id);
    if (!fact.claimed) return { created: false, accountId: fact.value };

    const settings = { name: 'Demo', mode: 'live', billing_mode: 'prepaid' } as const;
    await openAccount(transaction, { id, settings, balance: BALANCE_GROSZE });
    await activateSender(transaction, id, SENDER);
    await updateAccount(transaction, id, { sender_name: SENDER });
    const { key, hint, id: keyId } = await issueKey(transaction, id, 'live', ALL_SCOPES);
    await writeAudit(transaction, {
      actor: operatingUser(),
      action: 'demo account',
      account: id,
      subject: keyId,
      details: { hint, balance_grosze: BALANCE_GROSZE, sender: SENDER },
    });
    return { created: true, accountId: id, apiKey: key };
  });
}
