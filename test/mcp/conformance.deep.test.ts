import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { assistantTools } from '../../mcp/mount.ts';
import { newAccount } from '../support/factories.ts';
import { createFixtureServer } from './fixtures.ts';
import { ended, installedPrograms, type OtherPrograms } from './install.ts';
import { type KeyProxy, startKeyProxy } from './keyProxy.ts';
import { startOwnApi } from '../support/ownApi.ts';

type Revision = keyof OtherPrograms['conformance'];

/** Scenarios that any server passes, or says that it does not have what they need. */
const OF_ANY_SERVER: Record<Revision, readonly string[]> = {
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

const OF_CONTENTS = [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** Scenarios that call tools, prompts and resources of the suite's own. */
const OF_FIXTURES: Record<Revision, readonly string[]> = {
  '2025-11-25': OF_CONTENTS,
  '2026-07-28': [
    ...OF_CONTENTS,
    'server-stateless',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-missing-input-response',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
};

/** What the service does not offer, and says so in its capabilities; without sessions nothing is asked of a client. */
const NOT_OFFERED: Record<Revision, readonly string[]> = {
  '2025-11-25': [
    'logging-set-level',
    'completion-complete',
    'tools-call-with-logging',
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'resources-subscribe',
    'resources-unsubscribe',
    'server-sse-polling',
    'server-sse-multiple-streams',
  ],
  '2026-07-28': ['completion-complete', 'http-custom-header-server-validation'],
};

const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
let programs: OtherPrograms;
let fixtures: RunningApi;
let toService: KeyProxy;
let toFixtures: KeyProxy;

beforeAll(async () => {
  programs = await installedPrograms();
  const { key } = await newAccount();
  fixtures = await startFixtures();
  [toService, toFixtures] = await Promise.all([
    startKeyProxy(inject('service').apiUrl, key),
    startKeyProxy(fixtures.url, key),
  ]);
});
afterAll(async () => {
  await Promise.all([toService?.close(), toFixtures?.close()]);
  await fixtures?.stop();
});

/** An API whose assistant door serves the fixtures in place of the tools. */
const startFixtures = () => startOwnApi({ mounts: [assistantTools(createFixtureServer)] });

async function expectPassed(revision: Revision, { url }: KeyProxy, scenario: string): Promise<void> {
  const [node, suite] = programs.conformance[revision];
  const args = [suite, 'server', '--url', `${url}/mcp`, '--scenario', scenario, '--spec-version', revision];
  const { code, stdout, stderr } = await ended(node, args);
  expect(code, stdout + stderr).toBe(0);
  // Whatever ended with 0 without a look at the server passed nothing.
  expect(stdout).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
}

describe.each(REVISIONS)('the conformance suite, %s', (revision) => {
  it.each(OF_ANY_SERVER[revision])('%s', (scenario) => expectPassed(revision, toService, scenario));

  it.each(OF_FIXTURES[revision])('%s, of its own fixtures', (scenario) =>
    expectPassed(revision, toFixtures, scenario),
  );

  it('has no scenario that is not run or named as not offered', async () => {
    const [node, suite] = programs.conformance[revision];
    const { stdout } = await ended(node, [suite, 'list', '--server']);
    const listed = [...stdout.split('Client scenarios')[0]!.matchAll(/- (\S+) \[(.*)\]/g)]
      .filter(([, , revisions]) => revisions!.split(',').includes(revision))
      .map(([, name]) => name!);
    const sorted = [OF_ANY_SERVER, OF_FIXTURES, NOT_OFFERED].flatMap((kind) => kind[revision]).sort();
    expect(listed.sort()).toEqual(sorted);
  });
});
