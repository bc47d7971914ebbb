import type { TestProject } from 'vitest/node';
import { type ServiceUnderTest, startService } from './service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    service: ServiceUnderTest;
  }
}

/** One service for all tests that ask for it; gone without a trace afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { service, stop } = await startService();
  project.provide('service', service);
  return stop;
}
