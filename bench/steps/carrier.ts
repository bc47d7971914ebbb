import type { Carrier } from '../../carriers/carrier.ts';
import { createSmppCarrier } from '../../carriers/smpp/carrier.ts';
import { smppSettings } from '../../carriers/smpp/settings.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { until } from '../until.ts';
import type { NewMessage } from './http.ts';
import { setting } from './settings.ts';

/** The same for every program under comparison, the product included. */
export const ROUTE_SETTINGS = { sessions: 2, window: 100 };
export const ROUTE_CREDENTIALS = { systemId: 'bench', password: 'bench' };
const SENDER = 'INFO';
const VALID_MS = 3_600_000;

/** The way to the benchmark's SMSC. */
export interface OpenCarrier {
  /** Submits a message of one part. Returns the SMSC's id of it. */
  submit(message: NewMessage): Promise<string>;
  stop(): Promise<void>;
}

/** Opens the product's own SMPP carrier, so that pipelines are compared and not SMPP clients. */
export async function openCarrier(
  onReport: (carrierId: string, status: string) => Promise<void>,
): Promise<OpenCarrier> {
  const carrier: Carrier = createSmppCarrier({
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
  await carrier.start({
    onReports: async (reports: DeliveryReport[]) => {
      await Promise.all(reports.map((report) => onReport(report.carrierMessageId, report.state)));
    },
    ...{ onReplies: nothing, onSegment: nothing, onLateAnswer: nothing },
  });
  await until('the carrier is bound', () => carrier.state().sessions === ROUTE_SETTINGS.sessions);
  return {
    async submit({ id, recipient, text }) {
      const answer = await carrier.submit(
        {
          ...{ reference: `${id}/1`, destination: recipient, sender: SENDER, encoding: 'gsm7', text },
          ...{ part: 1, parts: 1, concatReference: 1, priority: false },
          expiresAt: new Date(Date.now() + VALID_MS),
        },
        () => Promise.resolve(true),
      );
      if (answer.kind !== 'accepted') throw new Error(`not accepted but ${answer.kind}`);
      return answer.carrierMessageId;
    },
    stop: () => carrier.stop(),
  };
}
