import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { spawnProcess } from '../support/service.ts';
import type { WebhookReceiver } from '../support/webhookReceiver.ts';
import {
  listening,
  observedAccount,
  type Observed,
  type ObservedAccount,
  startObserved,
} from './observed.ts';

const RECIPIENT = '+48511222333';
const TEXT = 'Bukiet dla pani Anieli czeka';

let collector: Collector;
let observed: Observed;
let account: ObservedAccount;
let receiver: WebhookReceiver;

const settings = (extra: Record<string, string> = {}): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '200',
  ...extra,
});

beforeAll(async () => {
  collector = await startCollector();
  observed = await startObserved(settings());
  account = await observedAccount(observed);
  ({ receiver } = await listening(account));
});
afterAll(async () => {
  await receiver?.close();
  await observed?.stop();
  await collector?.close();
});

async function send(url = observed.started.service.apiUrl): Promise<string> {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: RECIPIENT, text: TEXT }),
  });
  expect([201, 202]).toContain(response.status);
  return ((await response.json()) as { id: string }).id;
}

const delivered = (id: string): Promise<unknown> =>
  receiver.until((calls) =>
    calls.some(({ event }) => event.type === 'message.delivered' && event.data.message.id === id),
  );

test('a collector that is away or refuses holds up nobody', async () => {
  const refusing = await startCollector(503);
  const { service } = observed.started;
  const one = await spawnProcess('api', service, settings({ OTEL_EXPORTER_OTLP_ENDPOINT: refusing.url }));
  const gone = await spawnProcess(
    'api',
    service,
    settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }),
  );
  try {
    for (const { url } of [one, gone]) await delivered(await send(url));
    await eventually(
      () => Promise.resolve(refusing.connections()),
      (made) => made > 0,
    );
    await eventually(
      () => Promise.resolve(gone.lines),
      (lines) => lines.some((line) => line.includes('traces: could not be handed over')),
    );
    const from = Date.now();
    await Promise.all([one.stop(), gone.stop()]);
    expect(Date.now() - from).toBeLessThan(60_000);
  } finally {
    await Promise.all([one.stop(), gone.stop()]);
    await refusing.close();
  }
});
