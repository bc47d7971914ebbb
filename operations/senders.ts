import { readAccount } from '../db/accounts/accounts.ts';
import { activeSenders } from '../db/accounts/senders.ts';
import type { Asked } from './asked.ts';

/** Whom an account may send as. */
export interface Senders {
  /** The active ones by name. */
  senders: { name: string; is_default: boolean }[];
  /** In effect where a send names none. */
  current: string;
}

/** Lists the active senders (v2.3.0, Sender list item); a default that is no longer active gives way to the installation's. */
export async function listSenders({
  services: { sql, settings },
  caller: { accountId },
}: Pick<Asked<unknown>, 'services' | 'caller'>): Promise<Senders> {
  const [account, names] = await Promise.all([readAccount(sql, accountId), activeSenders(sql, accountId)]);
  const chosen = names.find((name) => name === account?.senderName);
  return {
    senders: names.map((name) => ({ name, is_default: name === chosen })),
    current: chosen ?? settings.DEFAULT_SENDER,
  };
}
