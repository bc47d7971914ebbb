import { inject } from 'vitest';
import { type McpClient, mcpClient } from '../../support/mcpClient.ts';

type Options = Parameters<typeof mcpClient>[2];

/** Connects to the assistant-tool server for as long as the work takes. */
export async function using<T>(
  key: string,
  work: (client: McpClient) => Promise<T>,
  options: Options = {},
): Promise<T> {
  const client = await mcpClient(inject('service').apiUrl, key, options);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Options of a client whose user answers every question with the reply; what was asked is added to `questions`. */
export function answering(reply: object, questions: string[] = []): Options {
  return {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params.message);
        return { ...reply } as { action: 'decline' };
      }),
  };
}
