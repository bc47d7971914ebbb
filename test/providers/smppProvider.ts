import { onTestFinished } from 'vitest';
import type { Provider, ProviderHandlers } from '../../providers/provider.ts';
import { createSmppProvider } from '../../providers/smpp/provider.ts';
import { smppSettings } from '../../providers/smpp/settings.ts';
import type { NetworkReply, ReplyPart } from '../../domain/incoming.ts';
import type { DeliveryReport, SubmitAnswer, SubmitPart } from '../../domain/submission.ts';
import { type Smsc, type SmscOptions, startSmsc } from '../smsc/smsc.ts';
import { until } from './until.ts';

/** A provider bound to an SMSC, and all that came of it; both end with the test. */
interface Bound {
  smsc: Smsc;
  provider: Provider;
  reports: DeliveryReport[];
  reportBatches: number[];
  replies: NetworkReply[];
  parts: ReplyPart[];
  late: { reference: string; answer: SubmitAnswer }[];
  errors: string[];
}

/** Settings for tests: what comes by itself comes soon, and no machine is too slow to answer. */
export const QUICK = {
  enquireLinkSeconds: 30,
  responseSeconds: 60,
  bindSeconds: 60,
  reconnectMinMs: 10,
  reconnectMaxMs: 50,
};

/** @param store what the handlers do besides keeping what they get; may fail */
export async function openProvider(
  settings: Record<string, unknown> = {},
  options: { smsc?: SmscOptions; store?: Partial<ProviderHandlers>; unbound?: boolean } = {},
): Promise<Bound> {
  const smsc = await startSmsc(options.smsc);
  onTestFinished(() => smsc.stop());
  const errors: string[] = [];
  const provider = createSmppProvider({
    name: 'operator',
    settings: smppSettings.parse({ host: '127.0.0.1', port: smsc.port, ...QUICK, ...settings }),
    credentials: { systemId: smsc.systemId, password: smsc.password },
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
  });
  onTestFinished(() => provider.stop());
  const bound: Bound = {
    smsc,
    provider,
    reports: [],
    reportBatches: [],
    replies: [],
    parts: [],
    late: [],
    errors,
  };
  const { store = {} } = options;
  await provider.start({
    async onReports(reports) {
      await store.onReports?.(reports);
      bound.reports.push(...reports);
      bound.reportBatches.push(reports.length);
    },
    async onReplies(replies) {
      await store.onReplies?.(replies);
      bound.replies.push(...replies);
    },
    async onReplyPart(part) {
      await store.onReplyPart?.(part);
      bound.parts.push(part);
    },
    onEmailEvents: () => Promise.resolve(),
    async onLateAnswer(reference, answer, arrivedAt) {
      await store.onLateAnswer?.(reference, answer, arrivedAt);
      bound.late.push({ reference, answer });
    },
  });
  if (!options.unbound) await until(() => provider.state().sessions === provider.state().sessionsWanted);
  return bound;
}

/** Submits a part that may leave. */
export async function submit(provider: Provider, one: SubmitPart): Promise<SubmitAnswer> {
  const answer = await provider.submit(one, () => Promise.resolve(true));
  if (answer.kind === 'withheld') throw new Error('withheld');
  return answer;
}

/** One part, or one of many by its number. */
export function part(number = 0, more: Partial<SubmitPart> = {}): SubmitPart {
  return {
    reference: `msg_${number}/1`,
    destination: `+48600${String(number).padStart(6, '0')}`,
    sender: 'GONIEC',
    encoding: 'gsm7',
    text: `text ${number}`,
    part: 1,
    parts: 1,
    concatReference: number,
    channel: 'sms',
    content: null,
    priority: false,
    expiresAt: new Date(Date.now() + 3_600_000),
    ...more,
  };
}
