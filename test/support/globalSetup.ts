import type { TestProject } from 'vitest/node';
import { UNLISTED } from '../../api/http/listedRefusals.ts';
import { type ServiceUnderTest, startService } from './service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    service: ServiceUnderTest;
  }
}

/** One service for all tests that ask for it; gone without a trace afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { service, api, stop } = await startService();
  project.provide('service', service);
  return async () => {
    await stop();
    failOnUnlisted(api.lines);
  };
}

/** An endpoint that refuses with what it does not list answers all the same: the log alone says so, and the run fails. */
function failOnUnlisted(lines: readonly string[]): void {
  const unlisted = new Set(
    lines
      .filter((line) => line.includes(UNLISTED))
      .map((line) => {
        const { method, route, reason } = JSON.parse(line) as Record<string, string>;
        return `${method} ${route}: ${reason}`;
      }),
  );
  if (unlisted.size === 0) return;
  // Vitest writes an error from here, and goes on to its end as if there were none.
  process.exitCode = 1;
  throw new Error(`refusals that their endpoints do not list:\n${[...unlisted].join('\n')}`);
}
