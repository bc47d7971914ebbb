import {
  acceptedContent,
  type CallToolResult,
  type GetPromptResult,
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the suite's tools, prompts and resources have to answer with stands in its scenarios' descriptions. */
type Fixture = (context: ServerContext, server: Server) => Result | Promise<Result>;
type Result = CallToolResult | InputRequiredResult;

// One red pixel, and a tenth of a second of nothing.
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const PAUSE_MS = 50;
const text = (words: string) => ({ type: 'text', text: words }) as const;
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const said = (words: string): Result => ({ content: [text(words)] });

const TEXT = { type: 'string' } as const;
const YES_OR_NO = { type: 'boolean' } as const;
const askFor = (message: string, field: string, asked: typeof TEXT | typeof YES_OR_NO): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: asked }, required: [field] },
  });
const askName = () => askFor('What is your name?', 'name', TEXT);
const askGreeting = () =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: text('Generate a greeting') }],
    maxTokens: 50,
  });

// What a client holds for us between two rounds, it could have written itself.
const SECRET = randomBytes(32);
const signed = (state: string) => `${state}.${createHmac('sha256', SECRET).update(state).digest('hex')}`;
function stateOf({ mcpReq }: ServerContext): string | null {
  const held = mcpReq.requestState();
  if (typeof held !== 'string') return null;
  const state = held.split('.')[0]!;
  if (held !== signed(state))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is not ours');
  return state;
}

const given = ({ mcpReq }: ServerContext, key: string) => mcpReq.inputResponses?.[key];

const tools: Readonly<Record<string, Fixture>> = {
  test_simple_text: () => said('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }),
  test_error_handling: () => ({
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  }),
  async test_tool_with_progress({ mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      }
      await sleep(PAUSE_MS);
    }
    return said('Done');
  },
  json_schema_2020_12_tool: () => said('Never called'),
  test_logging_tool: () => said('Nothing is logged to clients'),
  test_streaming_elicitation: () => inputRequired({ inputRequests: { user_name: askName() } }),
  test_missing_capability(_context, server) {
    if (server.getClientCapabilities()?.sampling === undefined) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    }
    return said('The client can sample');
  },
  test_input_required_result_elicitation({ mcpReq }) {
    const name = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'user_name')?.name;
    return name === undefined
      ? inputRequired({ inputRequests: { user_name: askName() } })
      : said(`Hello, ${name}!`);
  },
  test_input_required_result_sampling: (context) =>
    given(context, 'capital_question') === undefined
      ? inputRequired({
          inputRequests: {
            capital_question: inputRequired.createMessage({
              messages: [{ role: 'user', content: text('What is the capital of France?') }],
              maxTokens: 100,
            }),
          },
        })
      : said('Paris'),
  test_input_required_result_list_roots: (context) =>
    given(context, 'client_roots') === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : said('Roots were read'),
  test_input_required_result_request_state(context) {
    if (stateOf(context) === 'asked') return said('state-ok');
    const confirm = askFor('Please confirm', 'ok', YES_OR_NO);
    return inputRequired({ inputRequests: { confirm }, requestState: signed('asked') });
  },
  test_input_required_result_multiple_inputs(context) {
    if (stateOf(context) === 'asked') return said('All was answered');
    return inputRequired({
      inputRequests: {
        user_name: askName(),
        greeting: askGreeting(),
        client_roots: inputRequired.listRoots(),
      },
      requestState: signed('asked'),
    });
  },
  test_input_required_result_multi_round(context) {
    const state = stateOf(context);
    if (state === 'second') return said('Both were answered');
    return state === 'first'
      ? inputRequired({
          inputRequests: { step2: askFor('Step 2: What is your favorite color?', 'color', TEXT) },
          requestState: signed('second'),
        })
      : inputRequired({
          inputRequests: { step1: askFor('Step 1: What is your name?', 'name', TEXT) },
          requestState: signed('first'),
        });
  },
  test_input_required_result_tampered_state(context) {
    if (stateOf(context) === 'asked') return said('state-ok');
    const confirm = askFor('Please confirm', 'ok', YES_OR_NO);
    return inputRequired({ inputRequests: { confirm }, requestState: signed('asked') });
  },
  test_input_required_result_capabilities(_context, server) {
    const can = server.getClientCapabilities();
    const inputRequests: Record<string, InputRequest> = {};
    if (can?.elicitation !== undefined) inputRequests['user_name'] = askName();
    if (can?.sampling !== undefined) inputRequests['greeting'] = askGreeting();
    return inputRequired({ inputRequests });
  },
};

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

type Prompt = (args: Record<string, string>, context: ServerContext) => GetPromptResult | InputRequiredResult;
const user = (content: GetPromptResult['messages'][number]['content']) =>
  ({ role: 'user', content }) as const;
const prompts: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: () => ({ messages: [user(text('This is a simple prompt for testing.'))] }),
  test_prompt_with_arguments: ({ arg1, arg2 }) => ({
    messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }),
  test_prompt_with_embedded_resource: ({ resourceUri }) => ({
    messages: [
      user({
        type: 'resource',
        resource: {
          uri: resourceUri!,
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      }),
      user(text('Please process the embedded resource above.')),
    ],
  }),
  test_prompt_with_image: () => ({ messages: [user(image), user(text('Please analyze the image above.'))] }),
  test_input_required_result_prompt: (_args, context) =>
    given(context, 'user_context') === undefined
      ? inputRequired({
          inputRequests: { user_context: askFor('What context should the prompt use?', 'context', TEXT) },
        })
      : { messages: [user(text('With context'))] },
};

const RESOURCES = [
  { uri: 'test://static-text', name: 'text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'binary', mimeType: 'image/png' },
];
const TEMPLATE = { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' };

function contentOf(uri: string) {
  if (uri === RESOURCES[0]!.uri) {
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  }
  if (uri === RESOURCES[1]!.uri) return { uri, mimeType: 'image/png', blob: PNG };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown resource');
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: 'application/json', text: JSON.stringify(data) };
}

function known<Value>(table: Readonly<Record<string, Value>>, name: string): Value {
  if (!Object.hasOwn(table, name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown: ${name}`);
  return table[name]!;
}

/** A server of the library that our door serves, with what the conformance suite asks for in place of the service's tools. */
export function createFixtureServer(): Server {
  const server = new Server(
    { name: 'fixtures', version: '1' },
    { capabilities: { tools: {}, prompts: {}, resources: {} } },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      inputSchema: name === 'json_schema_2020_12_tool' ? { ...SCHEMA_2020_12 } : { type: 'object' as const },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) => known(tools, params.name)(context, server));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map((name) => ({ name })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    known(prompts, params.name)(params.arguments ?? {}, context),
  );
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [contentOf(params.uri)] }));
  return server;
}
