import type { Provider } from '../../providers/provider.ts';
import { createSmppProvider } from '../../providers/smpp/provider.ts';
import { smppSettings } from '../../providers/smpp/settings.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { until } from '../until.ts';
import type { NewMessage } from './database.ts';
import { setting } from '../child.ts';

/** The product's route has the same. */
export const ROUTE_SETTINGS = { sessions: 2, window: 100 };
export const ROUTE_CREDENTIALS = { systemId: 'bench', password: 'bench' };
const SENDER = 'INFO';
const VALID_MS = 3_600_000;

/** The way to the benchmark's SMSC. */
export interface OpenProvider {
  /** Submits a message of one part. Returns the SMSC's id of it. */
  submit(message: NewMessage): Promise<string>;
  stop(): Promise<void>;
}

/** Opens the product's own SMPP provider, so that pipelines are compared and not SMPP clients. */
export async function openProvider(
  onReport: (providerId: string, status: string) => Promise<void>,
): Promise<OpenProvider> {
  const provider: Provider = createSmppProvider({
    name: 'bench',
    settings: smppSettings.parse({
      host: '127.0.0.1',
      port: Number(setting('SMSC_PORT')),
      ...ROUTE_SETTINGS,
    }),
    credentials: ROUTE_CREDENTIALS,
    onError: (error) => console.error(error),
  });
  const nothing = () => Promise.resolve();
  await provider.start({
    onReports: async (reports: DeliveryReport[]) => {
      await Promise.all(reports.map((report) => onReport(report.providerMessageId, report.state)));
    },
    ...{ onReplies: nothing, onReplyPart: nothing, onLateAnswer: nothing, onEmailEvents: nothing },
  });
  await until('the provider is bound', () => provider.state().sessions === ROUTE_SETTINGS.sessions);
  return {
    async submit({ id, recipient, text }) {
      const answer = await provider.submit(
        {
          ...{ reference: `${id}/1`, destination: recipient, sender: SENDER, encoding: 'gsm7', text },
          ...{ part: 1, parts: 1, concatReference: 1, priority: false, channel: 'sms', content: null },
          expiresAt: new Date(Date.now() + VALID_MS),
        },
        () => Promise.resolve(true),
      );
      if (answer.kind !== 'accepted') throw new Error(`not accepted but ${answer.kind}`);
      return answer.providerMessageId;
    },
    stop: () => provider.stop(),
  };
}
