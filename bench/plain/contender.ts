import { beginByWebhooks, type Contender, noneRunning } from '../contender.ts';
import { addDatabase, addRole } from '../database.ts';
import type { Ground } from '../ground.ts';
import { numbers, openCaller } from '../load.ts';
import { TABLES } from './database.ts';

const API_KEY = 'bench';

/** (b) The same steps as Temporal's samples would write them: API and worker on a database of their own. */
export async function startPlain(ground: Ground): Promise<Contender> {
  const { sql, client, receiverUrl } = ground;
  const url = await addDatabase(sql, ground.databaseUrl, 'plain', TABLES);
  const worker = await ground.start('plain-worker', 'bench/plain/worker.ts', {
    DATABASE_URL: await addRole(sql, url, 'plain-worker'),
    SMSC_PORT: String(ground.smscPort),
    WEBHOOK_URL: receiverUrl,
  });
  const api = await ground.start('plain-api', 'bench/plain/api.ts', { API_KEY });
  const caller = openCaller(api.url, API_KEY);
  return {
    ...{ key: 'plain', title: 'plain pipeline', recipients: 1 },
    ...{ pids: { api: api.pid, worker: worker.pid }, roles: { worker: 'plain-worker' } },
    send: async () => [((await caller.send(numbers(1)[0]!)) as { id: string }).id],
    begin: () => beginByWebhooks(receiverUrl),
    settled: () => noneRunning(client, `WorkflowType = 'plainMessage'`),
  };
}
