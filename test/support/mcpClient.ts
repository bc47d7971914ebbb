import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The generations of the protocol: 2025-11-25 and before, with `initialize`; 2026-07-28, without. */
export type Generation = 'legacy' | 'modern';
export const GENERATIONS: readonly Generation[] = ['legacy', 'modern'];

/** What a tool answered, read. */
export interface ToolAnswer {
  isError: boolean;
  /** `structuredContent`. */
  body: Record<string, unknown>;
  /** Of an error, read from its text; empty otherwise. */
  refusal: {
    error?: { code: string; message: string; param?: string };
    next?: string;
    notice?: string;
    confirm?: string;
  };
  texts: string[];
}

/** A client of the assistant-tool server, which the package of the protocol's authors provides. */
export interface McpClient {
  client: Client;
  list: () => Promise<string[]>;
  call: (name: string, args?: Record<string, unknown>) => Promise<ToolAnswer>;
  close: () => Promise<void>;
}

/** Connects to the assistant-tool server. @param path `/mcp` or a subset */
export async function mcpClient(
  apiUrl: string,
  key: string,
  {
    path = '/mcp',
    generation = 'modern',
    capabilities = {},
    prepare,
  }: {
    path?: string;
    generation?: Generation;
    capabilities?: ClientCapabilities;
    prepare?: (client: Client) => void;
  } = {},
): Promise<McpClient> {
  const mode = generation === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  prepare?.(client);
  const transport = new StreamableHTTPClientTransport(new URL(path, apiUrl), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return {
    client,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args = {}) {
      const {
        isError = false,
        structuredContent,
        content,
      } = await client.callTool({ name, arguments: args });
      const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      return {
        isError,
        body: (structuredContent ?? {}) as Record<string, unknown>,
        refusal: isError ? (JSON.parse(texts.at(-1)!) as ToolAnswer['refusal']) : {},
        texts,
      };
    },
    close: () => client.close(),
  };
}
