import { type Installation, type Killable, startParts } from './installation.ts';
import type { Account, Accounts } from './load.ts';
import type { Network } from './network.ts';
import { sendBySmpp } from './smppRoute.ts';

/** What can be killed. */
export const VICTIMS = ['api', 'worker', 'postgres', 'temporal'] as const;
export type Victim = (typeof VICTIMS)[number];

/** The ways between processes, each of which leads through something a test puts there. */
export type Link = `${'api' | 'worker'} to ${'postgres' | 'temporal'}` | 'worker to smsc';

/** Puts something between a process and a local port; returns the port that leads there. */
type Connect = (link: Link, port: number) => Promise<number>;

/** An API, a worker and their servers, with an SMSC that is not simulated. */
export interface Stage extends Installation {
  processes: Record<Victim, Killable>;
  /** Sends what these accounts send by SMPP, and waits until the worker is bound. */
  sendBySmpp(network: Network, accounts: Account[]): Promise<void>;
}

/** Starts everything; `connect` is asked once for each link. */
export async function startStage(connect: Connect): Promise<Stage> {
  const { workers, apis, postgres, temporal, secretsKey, ...installation } = await startParts(1, connect);
  return {
    ...installation,
    processes: { api: apis[0]!, worker: workers[0]!, postgres, temporal },
    async sendBySmpp(network, accounts) {
      const port = await connect('worker to smsc', network.smsc.port);
      const { databaseUrl } = installation;
      await sendBySmpp({ databaseUrl, secretsKey }, network.smsc, port, accounts);
    },
  };
}

/** Those of the load's accounts whose messages leave this machine; test accounts' never do. */
export function livePayers({ rich, telling, poor, stepping }: Accounts): Account[] {
  return [rich, telling, poor, stepping];
}
