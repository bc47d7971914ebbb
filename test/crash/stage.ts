import { randomBytes } from 'node:crypto';
import { freePort } from '../../bin/ports.ts';
import { migrate } from '../../db/migrate.ts';
import {
  type Installation,
  type Killable,
  keepPostgres,
  keepTemporal,
  leaveNothing,
  newDataDir,
  outputOf,
  runAdmin,
  startKillable,
} from './installation.ts';
import type { Account, Accounts } from './load.ts';
import type { Network } from './network.ts';
import { ROUTE, sendBySmpp } from './smppRoute.ts';

/** What can be killed. */
export const VICTIMS = ['api', 'worker', 'postgres', 'temporal'] as const;
export type Victim = (typeof VICTIMS)[number];

/** The ways between processes, each of which leads through something a test puts there. */
export const LINKS = [
  'api to postgres',
  'api to temporal',
  'worker to postgres',
  'worker to temporal',
  'worker to smsc',
] as const;
export type Link = (typeof LINKS)[number];

/** Puts something between a process and a local port; returns the port that leads there. */
export type Connect = (link: Link, port: number) => Promise<number>;

/** An API, a worker and their servers, with an SMSC that is not simulated. */
export interface Stage extends Installation {
  processes: Record<Victim, Killable>;
  /** Sends what these accounts send by SMPP, and waits until the worker is bound. */
  sendBySmpp(network: Network, accounts: Account[]): Promise<void>;
  /** All messages by SMPP go by this route. */
  route: string;
}

/** Starts everything; `connect` is asked once for each link. */
export async function startStage(connect: Connect): Promise<Stage> {
  const dataDir = newDataDir();
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.reverse()) await stopOne();
    await leaveNothing(dataDir);
  };
  try {
    const postgres = await keepPostgres(dataDir);
    stops.push(() => postgres.stop());
    const temporal = await keepTemporal(dataDir);
    stops.push(() => temporal.stop());
    await migrate(postgres.url);
    const secretsKey = randomBytes(32);
    const direct = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      DATA_DIR: dataDir,
      SECRETS_KEY: secretsKey.toString('base64'),
      HOST: '127.0.0.1',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    const startPart = async (part: 'api' | 'worker', port: number) => {
      const database = new URL(postgres.url);
      database.port = String(await connect(`${part} to postgres`, postgres.port));
      const settings = {
        ...direct,
        DATABASE_URL: database.href,
        TEMPORAL_ADDRESS: `127.0.0.1:${await connect(`${part} to temporal`, temporal.port)}`,
        PORT: String(port),
      };
      const saying = part === 'api' ? 'API listening' : 'worker started';
      const ready = (_: unknown, since: number): Promise<boolean> =>
        Promise.resolve(outputOf(dataDir, part, port).slice(since).includes(`"${saying}"`));
      const started = await startKillable(part, dataDir, settings, ready, port);
      stops.push(() => started.stop());
      return started;
    };
    const apiPort = await freePort();
    const [worker, api] = await Promise.all([startPart('worker', 1), startPart('api', apiPort)]);
    return {
      dataDir,
      apiUrls: [`http://127.0.0.1:${apiPort}`],
      databaseUrl: postgres.url,
      temporalAddress: direct.TEMPORAL_ADDRESS,
      admin: (...words) => runAdmin(direct, words),
      processes: { api, worker, postgres, temporal },
      route: ROUTE,
      async sendBySmpp(network, accounts) {
        const port = await connect('worker to smsc', network.smsc.port);
        await sendBySmpp({ databaseUrl: postgres.url, secretsKey }, network.smsc, port, accounts);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Those of the load's accounts whose messages leave this machine; test accounts' never do. */
export function livePayers({ rich, telling, poor, stepping }: Accounts): Account[] {
  return [rich, telling, poor, stepping];
}
