import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newAccount } from '../support/factories.ts';
import { ended, installedPrograms, type OtherPrograms } from './install.ts';
import { type KeyProxy, startKeyProxy } from './keyProxy.ts';

/** The scenarios that do not need tools, prompts and resources of the suite's own. */
const SCENARIOS: Record<keyof OtherPrograms['conformance'], readonly string[]> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'prompts-list',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    'input-required-result-unsupported-methods',
  ],
};

let programs: OtherPrograms;
let service: KeyProxy;

beforeAll(async () => {
  programs = await installedPrograms();
  const { key } = await newAccount();
  service = await startKeyProxy(inject('service').apiUrl, key);
});
afterAll(() => service?.close());

const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
describe.each(REVISIONS)('the conformance suite, %s', (revision) => {
  it.each(SCENARIOS[revision])('%s', async (scenario) => {
    const [node, suite] = programs.conformance[revision];
    const of = ['--scenario', scenario, '--spec-version', revision];
    const { code, stdout, stderr } = await ended(node, [
      suite,
      'server',
      '--url',
      `${service.url}/mcp`,
      ...of,
    ]);
    expect(code, stdout + stderr).toBe(0);
    // It ends with 0 as well when it has checked nothing.
    expect(stdout).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
  });
});
