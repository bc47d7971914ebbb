import { repeat } from '../concurrency/tasks.ts';
import { openDatabase } from '../db/connection.ts';
import { keyFingerprint, readFact } from '../db/installation.ts';
import { StartProblem } from './problem.ts';

const EVERY_MS = 5_000;
const CHANGED =
  'SECRETS_KEY: the stored secrets are encrypted with another key now; start again with that one (SECRETS_KEY, or DATA_DIR/secrets.key).';

interface KeyWatch {
  /** Rejects with a StartProblem once the secrets are encrypted with another key; never resolves. */
  changed: Promise<never>;
  stop(): Promise<void>;
}

/** Detects a key change (`secrets rotate`) under a running process, whose newly stored secrets could never be read again. */
export function watchSecretsKey(databaseUrl: string, key: Buffer, everyMs = EVERY_MS): KeyWatch {
  const fingerprint = keyFingerprint(key);
  const sql = openDatabase(databaseUrl, 1);
  let end: (problem: StartProblem) => void;
  const changed = new Promise<never>((_, reject) => (end = reject));
  // Prevents an unhandled rejection where the caller does not await it.
  changed.catch(() => undefined);
  const look = async (): Promise<void> => {
    const now = await readFact(sql, 'secrets_key');
    if (now !== null && now !== fingerprint) end(new StartProblem(CHANGED));
  };
  // A database that is unreachable, or being restored, says nothing about the key.
  const looking = repeat(everyMs, look, () => undefined);
  return {
    changed,
    async stop() {
      await Promise.all([looking.stop(), sql.end({ timeout: 1 })]);
    },
  };
}
