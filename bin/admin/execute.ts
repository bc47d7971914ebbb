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
 * Carries out a command and writes its audit record or records: both in one transaction or neither; after what it did outside the
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
    await recordLate(sql, entriesOf(actor, command.name, outcome));
    return outcome;
  }
  return transaction(sql, async (tx) => {
    const outcome = await command.run(tx, values, tools);
    for (const entry of entriesOf(actor, command.name, outcome)) await writeAudit(tx, entry);
    return outcome;
  });
}

// What is done cannot be taken back, so its record is not given up at the first failure.
async function recordLate(sql: Database, entries: readonly AuditEntry[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(sql, async (tx) => {
        for (const entry of entries) await writeAudit(tx, entry);
      });
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS) {
        throw new Error(`${entries[0]?.action} was carried out, but not recorded`, { cause: error });
      }
      await delay(RECORD_AGAIN_MS);
    }
  }
}

function entriesOf(actor: string, action: string, outcome: Outcome): AuditEntry[] {
  return (outcome.records ?? [outcome]).map(({ account, subject, details }) => ({
    ...{ actor, action, account: account ?? null, subject: subject ?? null, details: details ?? {} },
  }));
}
