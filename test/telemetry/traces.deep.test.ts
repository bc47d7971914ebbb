import { expect, test } from 'vitest';
import { startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { apiClient } from '../support/client.ts';
import { spawnProcess } from '../support/service.ts';
import { listening, observedAccount, startObserved } from './observed.ts';

test('a collector that is away or refuses holds up nothing', async () => {
  const refusing = await startCollector(503);
  const observed = await startObserved();
  const account = await observedAccount(observed);
  const { receiver } = await listening(account);
  const sendingTo = (url: string) =>
    spawnProcess('api', observed.started.service, {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
    });
  const apis = [await sendingTo(refusing.url), await sendingTo('http://127.0.0.1:9')];
  try {
    for (const { url } of apis) {
      const { status, body } = await apiClient(url, account.key).send({ to: '+48511222333', text: 'x' });
      expect(status).toBe(201);
      await receiver.until((calls) =>
        calls.some(({ event }) => event.type === 'message.delivered' && event.data.message.id === body.id),
      );
    }
    await eventually(
      () => Promise.resolve(refusing.connections()),
      (made) => made > 0,
    );
    await eventually(
      () => Promise.resolve(apis[1]!.lines),
      (lines) => lines.some((line) => line.includes('traces: could not be handed over')),
    );
  } finally {
    await Promise.all(apis.map((api) => api.stop()));
    await receiver.close();
    await observed.stop();
    await refusing.close();
  }
});
