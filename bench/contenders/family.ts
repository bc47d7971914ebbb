import { addDatabase, addRole } from '../database.ts';
import { type Contender, endedByWebhooks, type Ground } from '../contender.ts';
import { openCaller } from '../load.ts';
import { type Program, startProgram } from '../program.ts';
import { createTables } from '../steps/database.ts';

const API_KEY = 'bench';
const CONNECTIONS = 256;

/** What tells the programs under comparison apart. */
export interface Family {
  key: string;
  title: string;
  /** Their files in `bench/`. */
  api: string;
  worker: string;
  /** Beyond what all are told. */
  settings?: Record<string, string>;
  /** What else they consist of. */
  extra?: { pids: Record<string, number>; folder: string; stop(): Promise<void> };
  settled?: () => Promise<void>;
}

/** Starts an API and a worker process on a database of their own. */
export async function startFamily(ground: Ground, family: Family): Promise<Contender> {
  const { servers, smsc, receiver, profiles } = ground;
  const databaseUrl = await addDatabase(servers.databaseUrl, family.key);
  await createTables(databaseUrl);
  const begin = async (part: 'api' | 'worker'): Promise<Program> =>
    startProgram(
      `bench/${family[part]}`,
      {
        DATABASE_URL: await addRole(databaseUrl, `${family.key}-${part}`),
        TEMPORAL_ADDRESS: servers.temporalAddress,
        SMSC_PORT: String(smsc.port),
        WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/`,
        API_KEY,
        ...family.settings,
      },
      profiles,
    );
  const worker = await begin('worker');
  const api = await begin('api');
  const caller = openCaller(api.url, API_KEY, CONNECTIONS);
  return {
    key: family.key,
    title: family.title,
    pids: { api: api.pid, worker: worker.pid, ...family.extra?.pids },
    roles: { api: `${family.key}-api`, worker: `${family.key}-worker` },
    databaseUrl,
    recipients: 1,
    send: async () => [((await caller.send('+48500100200')) as { id: string }).id],
    refused: () => caller.refused(),
    ...endedByWebhooks(receiver, () => caller.refused()),
    settled: family.settled ?? (() => Promise.resolve()),
    extraFolder: family.extra?.folder ?? null,
    async stop() {
      await caller.close();
      await api.stop();
      await worker.stop();
      await family.extra?.stop();
    },
  };
}
