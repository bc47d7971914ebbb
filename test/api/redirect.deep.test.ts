import { expect, inject, it } from 'vitest';
import { startCutOffApi } from '../support/cutOffApi.ts';
import { database, newAccount } from '../support/factories.ts';
import { counted, sendLink, visit } from '../support/links.ts';
import { spawnProcess } from '../support/service.ts';

it('an API that reaches no Temporal, killed right after the 302: nobody waited for a start, and the click is counted', async () => {
  const { temporal, stop } = await startCutOffApi();
  const account = await newAccount();
  const { token } = await sendLink(account);
  const doomed = await spawnProcess('api', {
    ...inject('service'),
    temporalAddress: `127.0.0.1:${temporal.port}`,
  });
  try {
    temporal.freeze();
    const started = Date.now();
    expect((await visit(token, {}, doomed.url)).status).toBe(302);
    // A start of a workflow is given up after five seconds.
    expect(Date.now() - started).toBeLessThan(4_500);
    doomed.child.kill('SIGKILL');
    const [stored] = await database()`select counted_at from link_clicks where token = ${token}`;
    expect(stored).toEqual({ countedAt: null });
  } finally {
    temporal.restore();
    doomed.child.kill('SIGKILL');
    await stop();
  }
  expect((await counted(account, token, 1)).clicks).toBe(1);
});
