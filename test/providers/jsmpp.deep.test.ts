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

describe.each(['SMPPServerSimulator', 'StressServer'] as const)('jSMPP %s', (program) => {
  const reports: DeliveryReport[] = [];
  const replies: NetworkReply[] = [];
  const errors: unknown[] = [];
  let server: JsmppServer;
  let provider: Provider;
  let numbers = 0;

  beforeAll(async () => {
    server = await startJsmpp(program);
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

  async function send(
    text: string,
    { priority = false, flash = false } = {},
  ): Promise<{ to: string; answers: (SubmitAnswer | NotSubmitted)[] }> {
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
            content: flash ? { flash } : null,
            priority,
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

  it('the program itself got the same octets, and its id is the one stored', async () => {
    const { to, answers } = await send(SAMPLES[0]!.text);
    const answer = answers[0]!;
    expect(answer.kind).toBe('accepted');
    const id = answer.kind === 'accepted' ? answer.providerMessageId : '';
    const printed = await eventually(
      () => Promise.resolve(server.texts().find((text) => String(Number.parseInt(text.id, 16)) === id)),
      (found) => found !== undefined,
    );
    expect(printed!.octets).toEqual((await submitsTo(to, 1))[0]!.shortMessage);
  });

  it.each(SAMPLES)('receives as flash, octet for octet: $name', async ({ text, parts, dataCoding }) => {
    const plain = await send(text);
    const flash = await send(text, { flash: true });
    const submits = await submitsTo(flash.to, parts);
    expect(shown(submits)).toEqual([{ source: 'TEST', destination: flash.to, text, parts }]);
    expect(submits.map((submit) => submit.dataCoding)).toEqual(
      submits.map(() => (dataCoding === 8 ? 0x18 : 0x10)),
    );
    // Parts come in any order; what has several has a reference of its own.
    const bare = (found: typeof submits) =>
      found.map(({ shortMessage }) => shortMessage.toString('hex', parts > 1 ? 4 : 0)).sort();
    expect(bare(submits)).toEqual(bare(await submitsTo(plain.to, parts)));
  });

  it('priority messages say so', async () => {
    const { to } = await send('pilne', { priority: true });
    expect(await submitsTo(to, 1)).toMatchObject([{ priorityFlag: 1 }]);
  });

  it('two long messages to one number have references of their own', async () => {
    const first = await send(SAMPLES[4]!.text);
    const second = await send(SAMPLES[5]!.text);
    const both = [...(await submitsTo(first.to, 3)), ...(await submitsTo(second.to, 3))].map((submit) => ({
      ...submit,
      destination: 'one',
    }));
    expect(shown(both).map(({ text }) => text)).toEqual([SAMPLES[4]!.text, SAMPLES[5]!.text]);
  });

  it.runIf(program === 'SMPPServerSimulator')(
    'an incoming message arrives, once for each session',
    async () => {
      const found = await eventually(
        () => Promise.resolve([...replies]),
        (come) => come.length >= 2,
      );
      expect(found).toMatchObject([GREETING, GREETING]);
      expect(new Set(found.map(({ providerReference }) => providerReference)).size).toBe(2);
    },
  );

  it.runIf(program === 'SMPPServerSimulator')('a wrong password is told in words', async () => {
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
