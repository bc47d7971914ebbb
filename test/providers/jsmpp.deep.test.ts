import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provider, NotSubmitted } from '../../providers/provider.ts';
import { createSmppProvider, testSmppRoute } from '../../providers/smpp/provider.ts';
import { smppSettings } from '../../providers/smpp/settings.ts';
import type { NetworkReply } from '../../domain/incoming.ts';
import { splitIntoParts } from '../../domain/sms.ts';
import type { DeliveryReport, SubmitAnswer } from '../../domain/submission.ts';
import { JSMPP_CREDENTIALS, type JsmppServer, startJsmpp } from '../smsc/jsmpp.ts';
import { SAMPLES } from '../smsc/samples.ts';
import { shown } from '../smsc/text.ts';
import { eventually } from '../support/eventually.ts';
import { until } from './until.ts';

const GREETING = { from: '555', to: '12345', text: 'Hello World' };

describe('jSMPP’s SMPPServerSimulator', () => {
  const reports: DeliveryReport[] = [];
  const replies: NetworkReply[] = [];
  const errors: unknown[] = [];
  let server: JsmppServer;
  let provider: Provider;
  let numbers = 0;

  beforeAll(async () => {
    server = await startJsmpp();
    provider = createSmppProvider({
      name: 'jsmpp',
      settings: smppSettings.parse({ host: '127.0.0.1', port: server.port, sessions: 2, ids: 'hex-answer' }),
      credentials: JSMPP_CREDENTIALS,
      onError: (error) => errors.push(error),
    });
    await provider.start({
      onReports: (found) => Promise.resolve(void reports.push(...found)),
      onReplies: (found) => Promise.resolve(void replies.push(...found)),
      onReplyPart: () => Promise.resolve(),
      onLateAnswer: () => Promise.resolve(),
      onEmailEvents: () => Promise.resolve(),
    });
    await until(() => provider.state().sessions === 2);
  });
  afterAll(async () => {
    await provider.stop();
    await server.stop();
    expect(errors).toEqual([]);
  });

  async function send(text: string): Promise<{ to: string; answers: (SubmitAnswer | NotSubmitted)[] }> {
    numbers += 1;
    const to = `48500${300_000 + numbers}`;
    const { encoding, parts } = splitIntoParts(text);
    const answers = await Promise.all(
      parts.map((part, index) =>
        provider.submit(
          {
            reference: `msg_${numbers}/${index + 1}`,
            destination: `+${to}`,
            sender: 'TEST',
            encoding,
            text: part,
            part: index + 1,
            parts: parts.length,
            concatReference: numbers,
            channel: 'sms',
            content: null,
            priority: false,
            expiresAt: new Date(Date.now() + 3_600_000),
          },
          () => Promise.resolve(true),
        ),
      ),
    );
    return { to, answers };
  }
  // What the program prints comes some moments after its answer.
  const submitsTo = (to: string, count: number) =>
    eventually(
      () => Promise.resolve(server.submits().filter(({ destination }) => destination === to)),
      (submits) => submits.length >= count,
    );
  const reportsOn = (to: string) => reports.filter(({ phone }) => phone === `+${to}`);

  it.each(SAMPLES)('receives what was sent: $name', async ({ text, parts, dataCoding }) => {
    const { to, answers } = await send(text);
    expect(answers.map(({ kind }) => kind)).toEqual(answers.map(() => 'accepted'));
    const submits = await submitsTo(to, parts);
    expect(shown(submits)).toEqual([{ source: 'TEST', destination: to, text, parts }]);
    for (const submit of submits) {
      expect(submit).toMatchObject({
        dataCoding,
        registeredDelivery: 1,
        priorityFlag: 0,
        ...{ sourceTon: 5, sourceNpi: 0, destinationTon: 1, destinationNpi: 1 },
      });
    }
  });

  it('reports each part under the id of its answer, in the other base', async () => {
    const { to, answers } = await send(SAMPLES[4]!.text);
    await until(() => reportsOn(to).length === 3);
    const accepted = answers.map((answer) => (answer.kind === 'accepted' ? answer.providerMessageId : ''));
    expect(
      reportsOn(to)
        .map(({ providerMessageId }) => providerMessageId)
        .sort(),
    ).toEqual(accepted.sort());
    expect(reportsOn(to).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
  });

  it('an incoming message arrives, once for each session', async () => {
    const found = await eventually(
      () => Promise.resolve([...replies]),
      (come) => come.length >= 2,
    );
    expect(found).toMatchObject([GREETING, GREETING]);
    expect(new Set(found.map(({ providerReference }) => providerReference)).size).toBe(2);
  });

  it('a wrong password is told in words', async () => {
    const settings = smppSettings.parse({ host: '127.0.0.1', port: server.port });
    const refused = await testSmppRoute(settings, { ...JSMPP_CREDENTIALS, password: 'inne' });
    expect(refused).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/password|0x0000000e/i) as string,
    });
    // At last: a session that ends while the program greets it may end the program.
    expect(await testSmppRoute(settings, JSMPP_CREDENTIALS)).toEqual({ ok: true, answer: 'bound to sys' });
  });
});
