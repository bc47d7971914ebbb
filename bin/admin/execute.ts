import { userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type AuditEntry, writeAudit } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/connection.ts';
import { transaction } from '../../db/transaction.ts';
import type { AnyCommand, Outcome } from './command.ts';
import type { Tools } from './tools.ts';

const RECORD_ATTEMPTS = 10;
const RECORD_AGAIN_MS = 1_000;

/** Who acts: the user of the operating system, by number where the system knows no name. */
export function operatingUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/**
 * Carries out a command and writes its audit record: both in one transaction or neither; after what it did outside the
 * database.
 */
export async function execute(
  sql: Database,
  actor: string,
  command: Pick<AnyCommand, 'name' | 'run' | 'outside'>,
  values: Record<string, unknown>,
  tools: Tools,
): Promise<Outcome> {
  if (command.outside === true) {
    const outcome = await command.run(sql, values, tools);
    await recordLate(sql, entryOf(actor, command.name, outcome));
    return outcome;
  }
  return transaction(sql, async (tx) => {
    const outcome = await command.run(tx, values, tools);
    await writeAudit(tx, entryOf(actor, command.name, outcome));
    return outcome;
  });
}

// What is done cannot be taken back, so its record is not given up at the first failure.
async function recordLate(sql: Database, entry: AuditEntry): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeAudit(sql, entry);
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS) {
        throw new Error(`${entry.action} was carried out, but not recorded`, { cause: error });
      }
      await delay(RECORD_AGAIN_MS);
    }
  }
}

function entryOf(actor: string, action: string, { account, subject, details }: Outcome): AuditEntry {
  return { actor, action, account: account ?? null, subject: subject ?? null, details: details ?? {} };
}
