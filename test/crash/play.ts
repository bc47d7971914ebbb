import { Client, Connection } from '@temporalio/client';
import { expect } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { endings } from '../support/endings.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import type { Chance } from './chance.ts';
import { findReplayViolations, findViolations, type Scene, untilAtRest } from './findings.ts';
import { type HeldReceiver, startHeldReceiver } from './heldReceiver.ts';
import { type Load, makeAccounts, oneCaller, planLoad, startLoad, type Told } from './load.ts';
import { type Network, startNetwork } from './network.ts';
import { type Link, livePayers, type Stage, startStage } from './stage.ts';

/** A stage with load on it, an account for single messages, and what is known of all so far. */
export interface Play {
  stage: Stage;
  network: Network;
  /** Of the account `stepping`, which the load leaves alone. */
  receiver: HeldReceiver;
  sql: Database;
  client: Client;
  load: Load;
  /** Sends and cancels for the account `stepping`, until there is a final answer. */
  caller: ReturnType<typeof oneCaller>;
  scene: Scene;
  /** Ends the load and checks everything that has to be as it was promised; returns how many messages were accepted. */
  end(): Promise<number>;
  stop(): Promise<void>;
}

/** Every way that a test may put something into. */
export type AnyLink = Link | 'worker to receiver';

const BACKGROUND = { clients: 2, pauseMs: 400 };
const MOST_REQUESTS = 5_000;

/** Starts everything, and the load. */
export async function startPlay(
  chance: Chance,
  round: number,
  connect: (link: AnyLink, port: number) => Promise<number>,
): Promise<Play> {
  const started = endings();
  try {
    const network = await startNetwork();
    started.add(() => network.smsc.stop());
    const receiver = await startReceiver();
    started.add(() => receiver.close());
    const held = await startHeldReceiver();
    started.add(() => held.close());
    const stage = await startStage(connect);
    started.add(() => stage.stop());
    const url = new URL(held.url);
    url.port = String(await connect('worker to receiver', Number(url.port)));
    const stepping = { url: url.href, useSecret: (secret: string) => held.useSecret(secret) };
    const accounts = await makeAccounts(stage, { telling: receiver, stepping });
    await stage.sendBySmpp(network, livePayers(accounts));

    const sql = openDatabase(stage.databaseUrl, 4);
    started.add(() => sql.end({ timeout: 5 }));
    const connection = await Connection.connect({ address: stage.temporalAddress });
    started.add(() => connection.close());
    const client = new Client({ connection });
    const plan = planLoad(chance, `${round}`, MOST_REQUESTS, 0);
    const load = startLoad(stage.apiUrls, accounts, plan, BACKGROUND);
    const scene: Scene = {
      sql,
      client,
      apiUrl: stage.apiUrls[0]!,
      accounts,
      receiver: {
        get calls() {
          return [...receiver.calls, ...held.calls];
        },
      },
      told: [],
      taken: (recipient) => network.taken(recipient),
    };
    const caller = oneCaller(stage.apiUrls, accounts.stepping, load);
    const end = async (): Promise<number> => {
      load.end();
      const told: Told[] = [...scene.told, ...(await load.done)];
      await checkAll({ ...scene, told }, network, load);
      return told.flatMap(({ messages }) => messages).length;
    };
    return {
      stage,
      network,
      receiver: held,
      sql,
      client,
      load,
      caller,
      scene,
      end,
      stop: () => started.all(),
    };
  } catch (error) {
    await started.all();
    throw error;
  }
}

async function checkAll(scene: Scene, network: Network, load: Load): Promise<void> {
  const { moving } = await untilAtRest(scene);
  expect(moving, 'in flight for ever').toEqual([]);
  expect(await findViolations(scene)).toEqual([]);
  expect(await findReplayViolations(scene)).toEqual([]);
  expect(await strays(scene, network), 'submitted without being accepted').toEqual([]);
  expect(network.submittedTwice(), 'submitted again after silence').toEqual([]);
  expect(network.smsc.problems).toEqual([]);
  expect(load.complaints, 'answers no caller should see').toEqual([]);
}

async function strays({ sql }: Scene, { smsc }: Network): Promise<string[]> {
  const accepted = await sql<{ recipient: string }[]>`
    select distinct recipient from messages`;
  const known = new Set(accepted.map(({ recipient }) => recipient));
  return smsc.submits
    .map(({ destination }) => `+${destination}`)
    .filter((recipient) => !known.has(recipient));
}
