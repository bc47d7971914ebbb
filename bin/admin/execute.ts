import { userInfo } from 'node:os';
import { writeAudit } from '../../db/audit.ts';
import type { Database } from '../../db/connection.ts';
import type { AnyCommand, Outcome } from './command.ts';

/** Who acts: the user of the operating system, by number where the system knows no name. */
export function operatingUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Carries out a command and writes its audit record, both in one transaction or neither. */
export async function execute(
  sql: Database,
  actor: string,
  command: Pick<AnyCommand, 'name' | 'run'>,
  values: Record<string, unknown>,
): Promise<Outcome> {
  return sql.begin(async (transaction) => {
    const outcome = await command.run(transaction, values);
    await writeAudit(transaction, {
      actor,
      action: command.name,
      account: outcome.account ?? null,
      subject: outcome.subject ?? null,
      details: outcome.details ?? {},
    });
    return outcome;
  });
}
