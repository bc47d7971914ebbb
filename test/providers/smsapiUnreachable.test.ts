import { type AddressInfo, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createProviderHttp } from '../../providers/http.ts';
import { formRequest } from '../../providers/smsapi/http.ts';
import { stopClock } from '../support/stopClock.ts';
import { leaves, openClient, openProvider, sms } from './smsapiClient.ts';
import { until } from './until.ts';

describe('a provider that cannot be reached', () => {
  /** An address where nobody listens, nor can by chance. */
  const deadUrl = 'http://127.0.0.1:1';

  it('has certainly not taken the message', async () => {
    const { provider, client } = await openClient();
    await client.submit(sms(), leaves);
    await provider.close();
    const another = await openProvider();
    // An idle connection that was closed is noticed, or else nothing was written on a new one.
    expect(await client.submit(sms(), leaves)).toMatchObject({ kind: 'broken' });
    expect(provider.url).not.toBe(another.url);
  });

  /** A server that does this to every connection. */
  async function rudeServer(greet: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      greet(socket);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const limits = { writtenWithinMs: 500, answeredWithinMs: 1_000 };

  it.each([
    ['a connection reset while TLS is agreed', (socket: Socket) => void socket.destroy(), 'https'],
    ['TLS that is never agreed', (socket: Socket) => void socket.on('error', () => undefined), 'https'],
  ])('%s: certainly nothing was written', async (_, greet, protocol) => {
    const http = createProviderHttp([`${protocol}://${await rudeServer(greet)}`], {});
    expect(await http.send(formRequest('/sms.do', { to: '1' }), limits)).toMatchObject({ kind: 'not_sent' });
    expect(await http.send({ method: 'GET', path: '/profile' }, limits)).toMatchObject({ kind: 'not_sent' });
    await http.close();
  });

  it.each([
    [
      'a connection reset once the request has come',
      (socket: Socket) => void socket.once('data', () => socket.destroy()),
    ],
    ['silence', (socket: Socket) => void socket.on('error', () => undefined)],
    [
      'an answer that is no HTTP',
      (socket: Socket) => void socket.once('data', () => socket.end('hello\r\n\r\n')),
    ],
    ['an answer that never ends', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n{"list":')],
    [
      'headers without end',
      (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(50_000)}`),
    ],
  ])('%s: nobody knows what was taken', async (_, greet) => {
    const clock = stopClock();
    let come: () => void = () => undefined;
    const received = new Promise<void>((resolve) => (come = resolve));
    const greeted = (socket: Socket) => {
      socket.once('data', come);
      greet(socket);
    };
    const http = createProviderHttp([`http://${await rudeServer(greeted)}`], {});
    const posted = http.send(formRequest('/sms.do', { to: '1' }), {
      writtenWithinMs: 3_000,
      answeredWithinMs: 3_000,
    });
    await Promise.race([posted, received]);
    await clock.pass(3_000);
    expect(await posted).toMatchObject({ kind: 'lost' });
    await http.close();
  });

  it('is tried at its second address', async () => {
    const provider = await openProvider();
    const settings = { url: deadUrl, backupUrl: provider.url };
    const { client: second } = await openClient(settings, { provider });
    expect(await second.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
    expect(provider.taken).toHaveLength(1);
  });

  it('gets nothing from us before it has answered a first time', async () => {
    const { client: closed } = await openClient({ url: deadUrl }, { waits: false });
    await until(() => closed.state().failures > 0);
    expect(await closed.submit(sms(), () => Promise.reject(new Error('asked')))).toEqual({
      kind: 'broken',
      code: 'no_session',
    });
    expect(closed.state()).toMatchObject({ sessions: 0, sessionsWanted: 1, lastError: 'ECONNREFUSED' });
  });
});
