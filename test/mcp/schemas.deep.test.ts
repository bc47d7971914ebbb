import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import { newAccount } from '../support/factories.ts';
import { mcpClient } from '../support/mcpClient.ts';
import { installedPythonPackage } from '../support/pythonPackage.ts';

// What Go's regular expressions refuse cannot be in them: no tool has a pattern (api/mcp/protocol).
it("Python's jsonschema and google-genai take the schemas of all tools", async () => {
  const commands = await installedPythonPackage('google-genai', '3.6.1', ['jsonschema==4.26.0']);
  const { key } = await newAccount();
  const { client, close } = await mcpClient(inject('service').apiUrl, key);
  const { tools } = await client.listTools();
  await close();
  const reading = promisify(execFile)(join(commands, 'python'), [join(import.meta.dirname, 'schemas.py')]);
  reading.child.stdin!.end(JSON.stringify(tools));
  const { stdout } = await reading;
  expect(stdout.trim().split('\n')).toEqual(tools.map(({ name }) => name));
});
