import { beforeAll, describe, expect, inject, it } from 'vitest';
import { withBelongings } from '../api/mcp/belongings.ts';
import { toolCases } from '../api/mcp/cases.ts';
import { newAccount } from '../support/factories.ts';
import { type Generation, GENERATIONS } from '../support/mcpClient.ts';
import { ended, installedPrograms, type OtherPrograms } from './install.ts';
import { startKeyProxy } from './keyProxy.ts';

const REVISION = { legacy: '2025-11-25', modern: '2026-07-28' } as const;
let programs: OtherPrograms;
beforeAll(async () => {
  programs = await installedPrograms();
});

/** Asks with the Inspector's command line, and looks on the way at which revision it speaks. */
async function inspect(key: string, generation: Generation, args: readonly string[]) {
  const [node, inspector] = programs.inspector;
  const { url, revisions, close } = await startKeyProxy(inject('service').apiUrl, key);
  const to = ['--cli', `${url}/mcp`, '--transport', 'http'];
  const as = ['--header', `Authorization: Bearer ${key}`, '--protocol-era', generation];
  try {
    const answer = await ended(node, [inspector, ...to, ...as, ...args]);
    expect([...revisions], answer.stderr).toEqual([REVISION[generation]]);
    return answer;
  } finally {
    await close();
  }
}

const pairs = (args: Record<string, unknown>) =>
  Object.entries(args).flatMap(([name, value]) => ['--tool-arg', `${name}=${JSON.stringify(value)}`]);

describe.each(GENERATIONS)("the Inspector's command line, %s", (generation) => {
  it('lists the tools, and finds their schemas portable', async () => {
    const { key } = await newAccount();
    const list = ['--method', 'tools/list', '--strict'];
    const { code, stdout, stderr } = await inspect(key, generation, list);
    expect(code, stderr).toBe(0);
    const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(toolCases).sort());
  });

  it.each(Object.entries(toolCases))('calls %s', async (name, { args, same }) => {
    const { account, of } = await withBelongings();
    const call = ['--method', 'tools/call', '--tool-name', name, ...pairs(args(of))];
    const { code, stdout, stderr } = await inspect(account.key, generation, call);
    expect(code, stdout + stderr).toBe(0);
    const { structuredContent } = JSON.parse(stdout) as { structuredContent: Record<string, unknown> };
    await same(account, of, structuredContent);
  });
});
