import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRoute, sealCredentials } from '../../db/routes/routes.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

const ESME_RSUBMITFAIL = 0x45;
const LAST_MINUTE_MS = 60_000;
const BEFORE_MS = 5_000;

let pipeline: Pipeline;
let smsc: Smsc;
beforeAll(async () => {
  [pipeline, smsc] = await Promise.all([startPipeline('real'), startSmsc()]);
  await addRoute(pipeline.sql, {
    ...{ name: 'failing', kind: 'smpp', state: 'active', ratePerSecond: null, brokenAfterS: 600 },
    settings: { host: '127.0.0.1', port: smsc.port },
    credentials: sealCredentials(pipeline.secretsKey, 'failing', {
      systemId: smsc.systemId,
      password: smsc.password,
    }),
  });
  await until('the route is bound', () => Promise.resolve(smsc.connections().length > 0));
});
afterAll(async () => {
  await pipeline?.close();
  await smsc?.stop();
});

test('a message that the SMSC puts off for longer than it may be delivered is submitted once more, a minute before it expires', async () => {
  const account = await pipeline.account();
  // The first attempt alone.
  smsc.behave = () => (smsc.submits.length <= 1 ? { status: ESME_RSUBMITFAIL } : {});
  const giveUpAt = Date.now() + LAST_MINUTE_MS + BEFORE_MS;
  const message = await pipeline.send(account, { route: 'failing', giveUpAt });
  await pipeline.untilStatus(message.id, 'delivered');
  expect(smsc.submits.filter(({ taken }) => taken)).toHaveLength(1);
  expect(smsc.submits.some(({ status }) => status === ESME_RSUBMITFAIL)).toBe(true);
  expect(await pipeline.balance(account)).toBe(985);
});
