import { onTestFinished } from 'vitest';
import type { Provider as Client } from '../../providers/provider.ts';
import { createSmsapiProvider } from '../../providers/smsapi/provider.ts';
import { smsapiSettings } from '../../providers/smsapi/settings.ts';
import type { DeliveryReport, LookupAnswer, SubmitAnswer, SubmitPart } from '../../domain/submission.ts';
import { type Provider, startProvider } from '../smsapi/provider.ts';
import { until } from './until.ts';

export const SECRET = 'a'.repeat(32);
export const CALLBACK_URL = 'https://api.example';

/** A client at a provider, and all that came of it; both end with the test. */
export interface Opened {
  provider: Provider;
  client: Client;
  reports: DeliveryReport[];
  late: [reference: string, answer: SubmitAnswer][];
  errors: unknown[];
  /** The answers to look-ups that have come as callbacks, by the provider's id; a test puts them here. */
  lookups: Map<string, LookupAnswer>;
}

/** Where and how a client is opened. */
interface OpenOptions {
  /** Where the client sends to, unless its settings say otherwise; a new one when left out. */
  provider?: Provider;
  /** The provider's own when left out. */
  token?: string;
  /** What is done before a late answer is kept; may fail. */
  storesLate?: () => Promise<void>;
  /** Whether the client is to work first; it is when left out. */
  waits?: boolean;
}

/** Starts a provider that ends with the test. */
export async function openProvider(): Promise<Provider> {
  const provider = await startProvider();
  onTestFinished(() => provider.close());
  return provider;
}

/** Opens a client that works, unless told not to wait for that. */
export async function openClient(
  settings: Record<string, unknown> = {},
  options: OpenOptions = {},
): Promise<Opened> {
  const provider = options.provider ?? (await openProvider());
  const { token = provider.token, storesLate, waits = true } = options;
  const errors: unknown[] = [];
  const lookups = new Map<string, LookupAnswer>();
  const client = createSmsapiProvider({
    name: 'smsapi',
    settings: smsapiSettings.parse({
      url: provider.url,
      callbackUrl: CALLBACK_URL,
      // No machine is too slow to answer.
      responseSeconds: 60,
      ...settings,
    }),
    credentials: { token, callbackSecret: SECRET },
    lookups: { find: (_, id) => Promise.resolve(lookups.get(id) ?? null) },
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => client.stop());
  const opened: Opened = { provider, client, reports: [], late: [], errors, lookups };
  await client.start({
    onReports: (reports) => Promise.resolve(void opened.reports.push(...reports)),
    onReplies: () => Promise.resolve(),
    onReplyPart: () => Promise.resolve(),
    onEmailEvents: () => Promise.resolve(),
    async onLateAnswer(reference, answer) {
      await storesLate?.();
      opened.late.push([reference, answer]);
    },
  });
  if (waits) await working(client);
  return opened;
}

/** Waits until a client works. */
export async function working(client: Client): Promise<void> {
  await until(() => client.state().sessions === 1);
}

/** Lets a message leave. */
export const leaves = () => Promise.resolve(true);

let counter = 0;

/** A message that no other has the reference of. */
export function sms(over: Partial<SubmitPart> = {}): SubmitPart {
  counter += 1;
  return {
    reference: `msg_01kaj${String(counter).padStart(21, '0')}/0`,
    destination: '+48500100200',
    sender: 'GONIEC',
    encoding: 'gsm7',
    text: 'Hej',
    part: 1,
    parts: 1,
    concatReference: 1,
    channel: 'sms',
    content: null,
    priority: false,
    expiresAt: new Date(Date.now() + 24 * 3_600_000),
    ...over,
  };
}
