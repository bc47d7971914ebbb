import type { JsonSchema, Parameter, PathItem } from './types.ts';

/** What is particular to a webhook. */
interface Webhook {
  summary: string;
  /** Of the body. */
  schema: JsonSchema;
  /** The headers that carry signatures. */
  signatures: readonly Parameter[];
  /** What an answer with a 2xx means, and any other. */
  taken: string;
}

/** A webhook as OpenAPI describes it: a call of ours that the receiver answers. */
export function webhookItem(operationId: string, { summary, schema, signatures, taken }: Webhook): PathItem {
  return {
    post: {
      operationId,
      summary,
      tags: ['Webhooks'],
      security: [],
      parameters: [...signatures],
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: { '2XX': { description: taken } },
    },
  };
}
