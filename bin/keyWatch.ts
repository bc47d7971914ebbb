import { repeat } from '../concurrency/tasks.ts';
import { openDatabase } from '../db/connection.ts';
import { keyFingerprint, readFact } from '../db/installation.ts';
import { StartProblem } from './problem.ts';

const EVERY_MS = 5_000;

/** Looks whether a process still has the key that the database's secrets are encrypted with. */
interface KeyWatch {
  /** Rejects with a StartProblem once they are encrypted with another one; never resolves. */
  changed: Promise<never>;
  stop(): Promise<void>;
}

/**
 * Has a process end that was left running while staff changed the key (`secrets rotate`): it can read no secret any more, and what
 * it stored could never be read again.
 */
export function watchSecretsKey(databaseUrl: string, key: Buffer, everyMs = EVERY_MS): KeyWatch {
  const fingerprint = keyFingerprint(key);
  const sql = openDatabase(databaseUrl, 1);
  let end: (problem: StartProblem) => void;
  const changed = new Promise<never>((_, reject) => (end = reject));
  // Whoever does not wait for it is not to be ended by it.
  changed.catch(() => undefined);
  const look = async (): Promise<void> => {
    const now = await readFact(sql, 'secrets_key');
    if (now !== null && now !== fingerprint) end(keyChanged());
  };
  // A database that is away says nothing of the key, nor one that is being restored.
  const looking = repeat(everyMs, look, () => undefined);
  return {
    changed,
    async stop() {
      await Promise.all([looking.stop(), sql.end({ timeout: 1 })]);
    },
  };
}

function keyChanged(): StartProblem {
  return new StartProblem(
    'SECRETS_KEY: the stored secrets are encrypted with another key now; start again with that one (SECRETS_KEY, or DATA_DIR/secrets.key).',
  );
}
