import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { getAccount } from '../api/account/account.ts';
import type { Endpoint } from '../api/http/endpoint.ts';
import { errorAnswer } from '../api/http/refusals.ts';
import { problemText } from '../api/http/texts.ts';
import { listTemplates } from '../api/templates.ts';
import { askEndpoint, type ToolCall } from './call.ts';
import { TEXT_MAX } from './result.ts';

/** A resource, and where its content comes from. */
export interface ServedResource extends Resource {
  endpoint: Endpoint;
  /** Fields of the endpoint's answer that it shows; all unless given. */
  fields?: readonly string[];
  /** What it shows beside them. */
  beside?: (call: ToolCall) => Record<string, unknown>;
}

/** What a client may read without a model asking for it. */
export const resources: readonly ServedResource[] = [
  {
    uri: 'goniec://account/prices',
    name: 'prices',
    title: 'Prices',
    description: 'The prices of the account in grosze net, and its balance.',
    endpoint: getAccount,
    fields: [
      ...['balance_grosze', 'price_per_part_grosze', 'price_per_mms_grosze', 'price_per_vms_grosze'],
      ...['price_per_hlr_grosze', 'country_rates', 'international_sms'],
    ],
  },
  {
    uri: 'goniec://account/limits',
    name: 'limits',
    title: 'Limits',
    description:
      'What bounds the account: calls a minute, credit, mode, sending hours, scopes of the key, and beyond how many recipients or grosze net a send has to be agreed to.',
    endpoint: getAccount,
    fields: [
      ...['rate_limit_per_minute', 'credit_limit_grosze', 'mode', 'test_credits', 'send_window', 'scopes'],
    ],
    beside: ({ confirmAbove: { recipients, costGrosze } }) => ({
      tool_confirm_recipients: recipients,
      tool_confirm_grosze: costGrosze,
    }),
  },
  {
    uri: 'goniec://templates',
    name: 'templates',
    title: 'Templates',
    description: 'The message templates of the account.',
    endpoint: listTemplates,
  },
];

/** The resource as it is listed. */
export function listedResource({ uri, name, title, description }: ServedResource): Resource {
  return { uri, name, title, description, mimeType: 'application/json' };
}

const TOO_LONG = `The resource has more than ${TEXT_MAX} characters: the tool that lists the same answers with it.`;

/** Reads a resource: one call of the account's rate limit. @throws ProtocolError for an unknown one, and with the sentence of a refusal */
export async function readResource(uri: string, call: ToolCall): Promise<ReadResourceResult> {
  const resource = resources.find((known) => known.uri === uri);
  if (resource === undefined) throw new ResourceNotFoundError(uri.slice(0, 200));
  const { endpoint, fields, beside } = resource;
  try {
    const question = { endpoint, params: {}, query: {}, body: undefined };
    await call.admit();
    const { body } = await askEndpoint(question, call, null);
    const shown = Object.entries(body as object).filter(([name]) => fields?.includes(name) ?? true);
    const text = JSON.stringify({ ...Object.fromEntries(shown), ...beside?.(call) });
    if (text.length > TEXT_MAX) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, TOO_LONG);
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const { problem, cause: err, status } = errorAnswer(thrown);
    const { requestId, services } = call;
    if (status >= 500) services.log.error({ err, requestId }, 'resource failed');
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, problemText(problem));
  }
}
