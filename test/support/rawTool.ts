import type { Generation } from './mcpClient.ts';

const VERSION = { legacy: '2025-11-25', modern: '2026-07-28' } as const;

/** A call of a tool as it stands on the wire: for what a client's package does not let one do. */
export function postTool(
  apiUrl: string,
  key: string,
  generation: Generation,
  { name, args, signal = null }: { name: string; args: object; signal?: AbortSignal | null },
): Promise<Response> {
  return postRaw(apiUrl, key, generation, {
    name,
    body: callOf(generation, name, JSON.stringify(args)),
    signal,
  });
}

/** The body of a call, its arguments as they stand. */
export function callOf(generation: Generation, name: string, args: string): string {
  const version = VERSION[generation];
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const more = generation === 'modern' ? `,"_meta":${JSON.stringify(meta)}` : '';
  const params = `{"name":${JSON.stringify(name)},"arguments":${args}${more}}`;
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
}

/** Posts a body that need not be a call, as a call of the tool would be. */
export function postRaw(
  apiUrl: string,
  key: string,
  generation: Generation,
  { name, body, signal = null }: { name: string; body: string; signal?: AbortSignal | null },
): Promise<Response> {
  const modern = generation === 'modern';
  return fetch(`${apiUrl}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': VERSION[generation],
      ...(modern ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : {}),
    },
    body,
    signal,
  });
}
