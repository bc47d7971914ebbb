import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSmppProvider, testSmppRoute } from '../../providers/smpp/provider.ts';
import { smppSettings } from '../../providers/smpp/settings.ts';
import { backoff } from '../../providers/smpp/sessions.ts';
import { selfSigned } from '../smsc/certificate.ts';
import { GARBAGE } from '../smsc/garbage.ts';
import { startSmsc } from '../smsc/smsc.ts';
import { COMMAND, encodePdu, takePdus } from '../smsc/wire.ts';
import { stopClock } from '../support/stopClock.ts';
import { openProvider, part, QUICK, submit } from './smppProvider.ts';
import { until } from './until.ts';

describe('binds', () => {
  test('as transceiver, with what the route says', async () => {
    const { smsc, provider } = await openProvider({ systemType: 'GONIEC', addressRange: '^48', sessions: 3 });
    expect(smsc.connections().map(({ bind }) => bind)).toEqual(
      Array.from({ length: 3 }, () => ({
        command: COMMAND.bindTransceiver,
        systemId: 'goniec',
        password: 'tajne',
        systemType: 'GONIEC',
        interfaceVersion: 0x34,
        addressRange: '^48',
      })),
    );
    expect(provider.state()).toMatchObject({ sessions: 3, sessionsWanted: 3, window: 30, failures: 0 });
  });

  test('as a pair: submits by the transmitter, reports by the receiver', async () => {
    const { smsc, provider, reports } = await openProvider({ bind: 'pair' });
    await until(() => smsc.bindAnswers.length === 2);
    expect(
      smsc
        .connections()
        .map(({ bind }) => bind?.command)
        .sort(),
    ).toEqual([COMMAND.bindReceiver, COMMAND.bindTransmitter]);
    await submit(provider, part(1));
    await until(() => reports.length === 1);
    expect(provider.state()).toMatchObject({ sessions: 1, sessionsWanted: 1, window: 10 });
  });

  test('as a pair: the receiver comes back by itself', async () => {
    const { smsc, provider, reports } = await openProvider({ bind: 'pair' });
    await until(() => smsc.bindAnswers.length === 2);
    smsc
      .connections()
      .find(({ bind }) => bind?.command === COMMAND.bindReceiver)!
      .disconnect();
    await submit(provider, part(1));
    await until(() => reports.length === 1);
    expect(provider.state()).toMatchObject({ sessions: 1, failures: 1 });
  });

  test('by TLS, to a server whose certificate is trusted', async () => {
    const tls = selfSigned('smsc.example');
    const { provider, smsc } = await openProvider(
      { tls: true, tlsCa: tls.cert, tlsServerName: 'smsc.example' },
      { smsc: { tls } },
    );
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'accepted' });
    expect(smsc.problems).toEqual([]);
  });

  test.each([
    ['an unknown authority', {}],
    ['another name', { tlsCa: true, tlsServerName: 'other.example' }],
  ])('by TLS, not to a server of %s', async (_what, settings) => {
    const tls = selfSigned('smsc.example');
    const { provider, smsc } = await openProvider(
      { tls: true, ...settings, ...('tlsCa' in settings ? { tlsCa: tls.cert } : {}) },
      { smsc: { tls }, unbound: true },
    );
    await until(() => provider.state().failures > 0);
    expect(provider.state().lastError).toMatch(/self-signed|altnames/);
    expect(smsc.bindAnswers).toEqual([]);
  });

  test('again when the password is right again; until then it says why not', async () => {
    const { smsc, provider } = await openProvider();
    smsc.password = 'inne';
    smsc.connections()[0]!.disconnect();
    await until(() => smsc.bindAnswers.filter((status) => status === 0x0e).length >= 3);
    expect(provider.state()).toMatchObject({
      sessions: 0,
      lastError: 'transceiver: the SMSC refused the bind: ESME_RINVPASWD (0x0000000e)',
    });
    expect(JSON.stringify(provider.state())).not.toContain('tajne');
    smsc.password = 'tajne';
    await until(() => provider.state().sessions === 1);
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'accepted' });
  });

  test('with those that the SMSC admits, and goes on asking for the rest', async () => {
    const { smsc, provider } = await openProvider({ sessions: 3 }, { unbound: true });
    smsc.maxBinds = 2;
    await until(() => smsc.bindAnswers.includes(0x05) && provider.state().sessions === 2);
    smsc.maxBinds = 3;
    await until(() => provider.state().sessions === 3);
  });

  test('later and later where it fails', () => {
    const limits = { reconnectMinMs: 100, reconnectMaxMs: 5_000 };
    const most = (failures: number) =>
      Math.max(...Array.from({ length: 2_000 }, () => backoff(failures, limits)));
    expect(most(0)).toBeLessThanOrEqual(100);
    expect(most(3)).toBeLessThanOrEqual(800);
    expect(most(3)).toBeGreaterThan(400);
    expect(most(1_000)).toBeLessThanOrEqual(5_000);
    expect(most(1_000)).toBeGreaterThan(2_500);
  });
});

describe('an SMSC that', () => {
  test('unbinds gets its answer, and a new session is opened', async () => {
    const { smsc, provider } = await openProvider();
    await smsc.connections()[0]!.unbind();
    await until(() => smsc.bindAnswers.length === 2 && provider.state().sessions === 1);
    expect(provider.state()).toMatchObject({ failures: 1, lastError: 'transceiver: the SMSC unbound' });
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'accepted' });
  });

  test('has forgotten the bind is bound to again', async () => {
    const { smsc, provider } = await openProvider();
    smsc.behave = () => ({ status: 0x04 });
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'broken' });
    smsc.behave = () => ({});
    await until(() => smsc.bindAnswers.length === 2 && provider.state().sessions === 1);
    expect(provider.state().lastError).toBe('transceiver: the SMSC knows nothing of the bind any more');
    expect(await submit(provider, part(2))).toMatchObject({ kind: 'accepted' });
  });

  test('unbinds while answers are under way still gives them', async () => {
    stopClock();
    const { smsc, provider } = await openProvider();
    smsc.behave = (_submit, connection) => {
      void connection.unbind();
      return { answer: 200 };
    };
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'accepted' });
  });

  test.each(Object.entries(GARBAGE))('sends %s is survived', async (_name, { bytes, readable }) => {
    const { smsc, provider } = await openProvider();
    smsc.connections()[0]!.write(bytes);
    if (readable) {
      // It answers in order: what came before was survived.
      expect(await smsc.connections()[0]!.request(COMMAND.enquireLink)).toBe(0);
      expect(provider.state().failures).toBe(0);
    } else {
      await until(() => provider.state().failures === 1 && provider.state().sessions === 1);
      expect(provider.state().lastError).toBe('transceiver: the SMSC sent what is no SMPP');
    }
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'accepted' });
    expect(smsc.submits).toHaveLength(1);
  });

  test('answers nothing at all is given up, with the bind', async () => {
    const raw = await rawSmsc(() => undefined);
    const provider = await carrierOf(raw.port, { bindSeconds: 0.2 });
    await until(() => provider.state().failures >= 2);
    expect(provider.state().lastError).toMatch(/no bind within 0.2 s|no answer to the bind/);
  });

  test('answers the bind and closes at once is not asked without pause', async () => {
    let binds = 0;
    const raw = await rawSmsc((socket, pdu) => {
      if (pdu.id === COMMAND.bindTransceiver) binds += 1;
      answerAll(socket, pdu);
      socket.end();
    });
    await carrierOf(raw.port, { reconnectMinMs: 40, reconnectMaxMs: 10_000 });
    await delay(1_500);
    // Without back-off it would be hundreds; with it 40 ms, doubled each time.
    expect(binds).toBeLessThan(20);
  });

  test('answers a submit with a generic_nack has refused it', async () => {
    const raw = await rawSmsc((socket, pdu) =>
      pdu.id === COMMAND.submitSm
        ? socket.write(encodePdu({ id: COMMAND.genericNack, sequence: pdu.sequence, status: 0x58 }))
        : answerAll(socket, pdu),
    );
    const provider = await carrierOf(raw.port);
    await until(() => provider.state().sessions === 1);
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'throttled' });
  });

  test('answers with a wrong command, or twice, answers once', async () => {
    const raw = await rawSmsc((socket, pdu) => {
      if (pdu.id !== COMMAND.submitSm) return answerAll(socket, pdu);
      const { sequence } = pdu;
      socket.write(encodePdu({ id: 0x80000015, sequence }));
      socket.write(encodePdu({ id: 0x80000004, sequence, body: Buffer.from('abc\0') }));
      socket.write(encodePdu({ id: 0x80000004, sequence, body: Buffer.from('def\0') }));
    });
    const provider = await carrierOf(raw.port);
    await until(() => provider.state().sessions === 1);
    expect(await submit(provider, part(1))).toEqual({ kind: 'accepted', providerMessageId: 'abc' });
  });
});

describe('a route is tested', () => {
  const credentials = { systemId: 'goniec', password: 'tajne' };
  const settingsOf = (port: number, more = {}) =>
    smppSettings.parse({ host: '127.0.0.1', port, ...QUICK, ...more });

  test('by binding and unbinding', async () => {
    const smsc = await startSmsc();
    onTestFinished(() => smsc.stop());
    expect(await testSmppRoute(settingsOf(smsc.port), credentials)).toEqual({
      ok: true,
      answer: 'bound to SMSC',
    });
    expect(await testSmppRoute(settingsOf(smsc.port, { bind: 'pair' }), credentials)).toMatchObject({
      ok: true,
    });
    await until(() => smsc.connections().length === 0);
    expect(smsc.bindAnswers).toEqual([0, 0, 0]);
  });

  test('and what is wrong is said', async () => {
    const smsc = await startSmsc();
    const wrong = await testSmppRoute(settingsOf(smsc.port), { ...credentials, password: 'zle' });
    expect(wrong).toEqual({
      ok: false,
      problem: 'transceiver: the SMSC refused the bind: ESME_RINVPASWD (0x0000000e)',
    });
    const { port } = smsc;
    await smsc.stop();
    const nobody = await testSmppRoute(settingsOf(port), credentials);
    expect(nobody).toMatchObject({ ok: false, problem: expect.stringContaining('ECONNREFUSED') as string });
  });
});

type Answer = (socket: Socket, pdu: { id: number; sequence: number }) => unknown;

const answerAll: Answer = (socket, { id, sequence }) => {
  const body = id === COMMAND.enquireLink || id === COMMAND.unbind ? Buffer.alloc(0) : Buffer.from('raw\0');
  if (id < 0x80000000) socket.write(encodePdu({ id: id + 0x80000000, sequence, body }));
};

/** A server that says what a test wants, octet by octet. */
async function rawSmsc(answer: Answer = answerAll): Promise<{ port: number; received: number[] }> {
  const received: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let rest: Buffer = Buffer.alloc(0);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const taken = takePdus(Buffer.concat([rest, chunk]));
      rest = taken.rest;
      for (const pdu of taken.pdus) {
        received.push(pdu.id);
        if (socket.writable) answer(socket, pdu);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: (server.address() as AddressInfo).port, received };
}

async function carrierOf(port: number, settings: Record<string, unknown> = {}) {
  const provider = createSmppProvider({
    name: 'operator',
    settings: smppSettings.parse({ host: '127.0.0.1', port, ...QUICK, ...settings }),
    credentials: { systemId: 'goniec', password: 'tajne' },
    onError: () => undefined,
  });
  onTestFinished(() => provider.stop());
  const stored = () => Promise.resolve();
  await provider.start({
    ...{ onReports: stored, onReplies: stored, onReplyPart: stored, onLateAnswer: stored },
    onEmailEvents: stored,
  });
  return provider;
}
