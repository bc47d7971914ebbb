import type { TestProject } from 'vitest/node';
import { type ServiceUnderTest, type StartedService, startServiceOn } from '../support/service.ts';
import type { Servers } from '../support/servers.ts';
import { useServers } from './servers.ts';
import { warmUp } from './warmUp.ts';

const ERROR_LEVEL = 50;

declare module 'vitest' {
  export interface ProvidedContext {
    service: ServiceUnderTest;
  }
}

declare global {
  // Each project of a run loads this file anew; what they share is the process's.
  var sharedService: { starting: Promise<StartedService>; users: number } | undefined;
}

/** One API and one worker for all tests of a run that ask for them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { servers, release } = await useServers();
  project.provide('servers', servers);
  const shared = (globalThis.sharedService ??= { starting: startWarm(servers), users: 0 });
  shared.users += 1;
  const { service, api, stop } = await shared.starting;
  project.provide('service', service);
  return async () => {
    shared.users -= 1;
    if (shared.users === 0) {
      globalThis.sharedService = undefined;
      await stop();
    }
    await release();
    if (shared.users > 0) return;
    printErrors(api.lines);
  };
}

async function startWarm(servers: Servers): Promise<StartedService> {
  const started = await startServiceOn(servers);
  await warmUp(started.service);
  return started;
}

/** What the API logged as errors, and how often: where a test failed only once, this may be all that says why. */
function printErrors(lines: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const line of lines.filter((text) => text.startsWith('{'))) {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message: string } };
    if (level < ERROR_LEVEL) continue;
    const text = err === undefined ? msg : `${msg}: ${err.message}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  for (const [text, times] of counts) console.log(`The API logged as an error, ${times} times: ${text}`);
}
