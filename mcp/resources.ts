import {
  type GetPromptResult,
  type Prompt,
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
import { Refused } from '../domain/refusals.ts';
import { callEndpoint, type ToolCall } from './toolCall.ts';
import { ANSWER_BYTES, presented, sizeOf } from './present.ts';

interface ServedResource extends Resource {
  endpoint: Endpoint;
  /** Fields of the response to show; all by default. */
  fields?: readonly string[];
  extraFields?: (call: ToolCall) => Record<string, unknown>;
}

export const resources: readonly ServedResource[] = [
  {
    uri: 'goniec://account/prices',
    name: 'prices',
    title: 'Prices',
    description: 'The prices of the account in grosze net, and its balance.',
    endpoint: getAccount,
    fields: [
      'balance_grosze',
      'price_per_part_grosze',
      'price_per_mms_grosze',
      'price_per_vms_grosze',
      'price_per_hlr_grosze',
      'country_rates',
      'international_sms',
    ],
  },
  {
    uri: 'goniec://account/limits',
    name: 'limits',
    title: 'Limits',
    description:
      'What bounds the account: calls a minute, credit, mode, sending hours, scopes of the key, and beyond how many recipients or grosze net a send has to be agreed to.',
    endpoint: getAccount,
    fields: ['rate_limit_per_minute', 'credit_limit_grosze', 'mode', 'test_credits', 'send_window', 'scopes'],
    extraFields: ({ confirmAbove: { recipients, costGrosze } }) => ({
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

/** A resource for `resources/list`. */
export function listedResource({ uri, name, title, description }: ServedResource): Resource {
  return { uri, name, title, description, mimeType: 'application/json' };
}

const TOO_LONG = `The resource has more than ${ANSWER_BYTES} bytes: the tool that lists the same answers it by pages.`;

/** Reads a resource, at the cost of one request. @throws ProtocolError for an unknown resource, and for any refusal */
export async function readResource(uri: string, call: ToolCall): Promise<ReadResourceResult> {
  const resource = resources.find((known) => known.uri === uri);
  if (resource === undefined) throw new ResourceNotFoundError(uri.slice(0, 200));
  const { endpoint, fields, extraFields } = resource;
  try {
    const question = { endpoint, params: {}, query: {}, body: undefined };
    if (call.refusal !== null) throw new Refused(call.refusal);
    const { body } = await callEndpoint(question, call, []);
    const shown = Object.entries(body as object).filter(([name]) => fields?.includes(name) ?? true);
    const answer = { ...Object.fromEntries(shown), ...extraFields?.(call) };
    // Measured first: what is presented is never shorter, and takes longer.
    const text = sizeOf(answer) > ANSWER_BYTES ? null : JSON.stringify(presented(answer));
    if (text === null || Buffer.byteLength(text) > ANSWER_BYTES)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, TOO_LONG);
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const { problem, cause: err, status } = errorAnswer(thrown);
    const { requestId, services } = call;
    if (status >= 500) services.log.error({ err, requestId }, 'resource failed');
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, problemText(problem));
  }
}

interface PromptTemplate extends Prompt {
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
  /** The tools that it names. */
  uses: readonly string[];
  text: (given: Readonly<Record<string, string>>) => string;
}

const AGREED = 'Send only after I have agreed to recipients and cost.';

const prompts: readonly PromptTemplate[] = [
  {
    name: 'campaign',
    title: 'Send a campaign',
    description: 'Writes a text for a contact group, shows what it costs, and sends it once agreed.',
    arguments: [
      { name: 'group', description: 'Name or id of the contact group.', required: true },
      { name: 'about', description: 'What to say.', required: true },
    ],
    uses: ['count_sms_parts', 'send_sms'],
    text: ({ group, about }) =>
      `Prepare an SMS campaign to the contact group ${quoted(group)} about: ${quoted(about)}. Write the text in Polish, short, with {{imie}} where it fits and {{opt_out}} at the end. Check its parts with count_sms_parts, see the cost with send_sms and dry_run, and show me both. ${AGREED}`,
  },
  {
    name: 'reminder',
    title: 'Remind somebody of an appointment',
    description: 'Schedules a reminder for a number.',
    arguments: [
      { name: 'to', description: 'The number.', required: true },
      { name: 'appointment', description: 'What, and when.', required: true },
    ],
    uses: ['send_sms'],
    text: ({ to, appointment }) =>
      `Schedule an SMS reminder to ${quoted(to)} of: ${quoted(appointment)}. Choose a send time a day before, within 08:00-20:00 Polish time, and show me text, send time and cost with send_sms and dry_run. ${AGREED}`,
  },
  {
    name: 'why_failed',
    title: 'Why did this message fail?',
    description: 'Explains what became of a message.',
    arguments: [{ name: 'message_id', description: 'The id, msg_….', required: true }],
    uses: ['get_message'],
    text: ({ message_id }) =>
      `Find out with get_message what became of ${quoted(message_id)}, and explain its status and error to me in plain words: whether it was delivered, what it cost, and what I can do. Send nothing.`,
  },
];

// Quoted as JSON, so that input cannot break out of the quotes.
const quoted = (value: string | undefined): string => JSON.stringify(value ?? '');
const ARGUMENT_MAX = 2_000;

/** The prompts whose tools are all among these. */
export function promptsFor(names: readonly string[]): Prompt[] {
  const usable = prompts.filter(({ uses }) => uses.every((name) => names.includes(name)));
  return usable.map(({ text: _text, uses: _uses, ...shown }) => shown);
}

/** Fills in a prompt. @throws ProtocolError for an unknown prompt, and for a missing or too long argument */
export function promptOf(name: string, given: Readonly<Record<string, string>> = {}): GetPromptResult {
  const prompt = prompts.find((known) => known.name === name);
  if (prompt === undefined) throw invalid(`Unknown prompt: ${name.slice(0, 64)}`);
  for (const argument of prompt.arguments) {
    const value = given[argument.name];
    if (value === undefined || value === '' || value.length > ARGUMENT_MAX) {
      throw invalid(`Argument ${argument.name}: 1 to ${ARGUMENT_MAX} characters`);
    }
  }
  const content = { type: 'text' as const, text: prompt.text(given) };
  return { description: prompt.description, messages: [{ role: 'user', content }] };
}

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
