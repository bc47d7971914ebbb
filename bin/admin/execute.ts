import { userInfo } from 'node:os';
import type { Database } from '../../db/connection.ts';
import { type Done, recorded, recordedAfter } from '../../operations/staff.ts';
import type { AnyCommand, Asking, Outcome, Shown } from './command.ts';
import type { Tools } from './tools.ts';

/** Who acts: whom `ADMIN_ACTOR` names, as everybody is one user in a container, else the user of the operating system. */
export function actorOf({ ADMIN_ACTOR }: { ADMIN_ACTOR?: string | undefined }): string {
  return ADMIN_ACTOR ?? operatingUser();
}

/** The user of the operating system, by number where the system knows no name. */
export function operatingUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Carries out a command, by an operation or by itself; either way it leaves its audit record. */
export async function execute(
  sql: Database,
  actor: string,
  command: AnyCommand,
  values: Record<string, unknown>,
  tools: Tools,
): Promise<Shown> {
  const services = { sql, temporal: () => tools.temporal(), secretsKey: () => tools.secretsKey() };
  const asking: Asking = { services, actor };
  if ('ask' in command) return await command.ask(asking, values, tools);
  const read = async (from: Parameters<typeof command.run>[0]) =>
    done(await command.run(from, values, tools));
  const operation =
    command.outside === true
      ? recordedAfter(command.name, ({ sql: pool }) => read(pool))
      : recorded(command.name, read);
  return await operation({ ...asking, input: undefined });
}

function done(outcome: Outcome): Done<Shown> {
  const { account, subject, details, records } = outcome;
  return {
    data: outcome,
    ...(account === undefined ? {} : { account }),
    ...(subject === undefined ? {} : { subject }),
    ...(details === undefined ? {} : { details }),
    ...(records === undefined ? {} : { records }),
  };
}
