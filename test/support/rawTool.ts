import type { Generation } from './mcpClient.ts';

const VERSION = { legacy: '2025-11-25', modern: '2026-07-28' } as const;

/** A call of a tool as it stands on the wire: for what a client's package does not let one do. */
export function postTool(
  apiUrl: string,
  key: string,
  generation: Generation,
  { name, args, signal = null }: { name: string; args: object; signal?: AbortSignal | null },
): Promise<Response> {
  const version = VERSION[generation];
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const modern = generation === 'modern';
  return fetch(`${apiUrl}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': version,
      ...(modern ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : {}),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, ...(modern ? { _meta: meta } : {}) },
    }),
    signal,
  });
}
