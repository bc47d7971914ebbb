import { type LookupAddress, promises as dnsOfSystem } from 'node:dns';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createOutgoing,
  createPublicLookup,
  type Delivery,
  type Outgoing,
} from '../../pipeline/outgoingHttp.ts';
import { type DnsServer, startDnsServer } from '../support/dnsServer.ts';

let dns: DnsServer;
let outgoing: Outgoing;
beforeAll(async () => {
  dns = await startDnsServer();
  outgoing = createOutgoing(false, [dns.address]);
});
afterEach(() => {
  dns.zone.clear();
  dns.questions.length = 0;
});
afterAll(async () => {
  await outgoing?.close();
  await dns?.close();
});

const post = (host: string): Promise<Delivery> => outgoing.post(`https://${host}/hook`, {}, '{}');

describe('an account whose name server says nothing', () => {
  it('keeps neither another account’s webhook waiting nor a look-up in this process', async () => {
    dns.zone.set('other.example', { A: ['10.0.0.1'] });
    const ended: string[] = [];
    const slow = Array.from({ length: 100 }, (_, i) => {
      dns.zone.set(`n${i}.slow.example`, 'silence');
      return post(`n${i}.slow.example`).finally(() => ended.push('slow'));
    });
    const other = post('other.example').then((delivery) => {
      ended.push('other');
      return delivery;
    });
    const own = dnsOfSystem.lookup('localhost').then(() => ended.push('own'));
    // What was found is judged, so that it was found is all that this can show.
    expect((await other).error).toContain('address not public');
    await own;
    expect(ended).not.toContain('slow');
    const deliveries = await Promise.all(slow);
    expect(dns.questions.filter((question) => question.includes('slow')).length).toBeGreaterThanOrEqual(200);
    for (const { statusCode, error } of deliveries) {
      expect(statusCode).toBeNull();
      expect(error).toMatch(/ETIMEOUT|ECANCELLED/);
    }
  });

  it('has one look-up at a time for all webhooks to one name', async () => {
    dns.zone.set('slow.example', 'silence');
    const deliveries = await Promise.all(Array.from({ length: 50 }, () => post('slow.example')));
    expect(deliveries.filter(({ error }) => error === null)).toEqual([]);
    // Two families, each asked twice.
    expect(dns.questions.length).toBeLessThanOrEqual(4);
  });
});

describe('a name is looked up in DNS', () => {
  const found = (name: string): Promise<LookupAddress[]> =>
    new Promise((resolve, reject) => {
      createPublicLookup([dns.address])(name, { all: true }, (error, addresses) =>
        error === null ? resolve(addresses as LookupAddress[]) : reject(error),
      );
    });
  const first = (name: string): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      createPublicLookup([dns.address])(name, {}, (error, address, family) =>
        error === null ? resolve([address, family]) : reject(error),
      );
    });
  const PUBLIC_4 = { address: '93.184.215.14', family: 4 };
  const PUBLIC_6 = { address: '2a00:1450:4001::1', family: 6 };

  it('in both families, of which the public addresses are used', async () => {
    dns.zone.set('both.example', {
      A: ['10.0.0.1', '127.0.0.1', PUBLIC_4.address, '169.254.169.254'],
      AAAA: ['::1', '::ffff:93.184.215.14', 'fd00::1', PUBLIC_6.address, '64:ff9b::1'],
    });
    expect(await found('both.example')).toEqual([PUBLIC_4, PUBLIC_6]);
    expect(await first('both.example')).toEqual([PUBLIC_4.address, 4]);
  });

  it('in one where there is no other', async () => {
    dns.zone.set('four.example', { A: [PUBLIC_4.address] });
    dns.zone.set('six.example', { AAAA: [PUBLIC_6.address] });
    expect(await found('four.example')).toEqual([PUBLIC_4]);
    expect(await found('six.example')).toEqual([PUBLIC_6]);
    expect(await first('six.example')).toEqual([PUBLIC_6.address, 6]);
  });

  it('anew for each connection: who changes it is judged by what it is then', async () => {
    dns.zone.set('turns.example', { A: [PUBLIC_4.address] });
    expect(await found('turns.example')).toEqual([PUBLIC_4]);
    dns.zone.set('turns.example', { A: ['127.0.0.1'] });
    await expect(found('turns.example')).rejects.toThrow('address not public');
    expect((await post('turns.example')).error).toContain('address not public');
  });

  it('and of thousands of addresses only some are used', async () => {
    const A = Array.from({ length: 2_000 }, (_, i) => `93.184.${i >> 8}.${i & 255}`);
    dns.zone.set('many.example', { A });
    expect(await found('many.example')).toHaveLength(20);
  });

  it.each([
    ['nxdomain', 'ENOTFOUND'],
    ['servfail', 'ESERVFAIL'],
  ] as const)('and not reached where that says %s', async (trouble, code) => {
    dns.zone.set('none.example', trouble);
    const delivery = await post('none.example');
    expect(delivery).toMatchObject({ statusCode: null, answer: null });
    expect(delivery.error).toContain(code);
  });

  it('but not one of this machine or network', async () => {
    dns.zone.set('intranet', { A: [PUBLIC_4.address] });
    expect((await post('localhost')).error).toContain('address not public');
    expect((await post('intranet')).error).toContain('address not public');
    expect(dns.questions).toEqual([]);
  });
});

describe('an address that is written as such', () => {
  it.each(['127.0.0.1', '[::1]', '10.0.0.1', '[::ffff:127.0.0.1]', '169.254.169.254'])(
    'and is not public, %s, is never connected to',
    async (host) => {
      const delivery = await post(host);
      expect(delivery).toMatchObject({ statusCode: null, answer: null });
      expect(delivery.error).toMatch(/public|private/);
    },
  );
});

describe('where private addresses are allowed', () => {
  let receiver: Server;
  beforeAll(async () => {
    receiver = createServer((_, response) => void response.writeHead(204).end());
    await new Promise<void>((resolve) => receiver.listen(0, 'localhost', resolve));
  });
  afterAll(() => void receiver.close());

  it('names are those of the operating system: localhost, and what else it has in /etc/hosts', async () => {
    const open = createOutgoing(true, [dns.address]);
    const { port } = receiver.address() as AddressInfo;
    expect(await open.post(`http://localhost:${port}/`, {}, '{}')).toMatchObject({ statusCode: 204 });
    expect(dns.questions).toEqual([]);
    await open.close();
  });
});

describe('an answer whose body does not come to its end', () => {
  const unfinished: [string, (response: ServerResponse) => void][] = [
    ['never ends', (response) => void response.writeHead(200).write('ok')],
    ['says nothing more', (response) => response.writeHead(200).flushHeaders()],
    [
      'is cut off',
      (response) => response.writeHead(200, { 'content-length': 10 }).write('ok', () => response.destroy()),
    ],
  ];

  it.each(unfinished)('has come all the same, where it %s', async (how, respond) => {
    const server = createServer((_, response) => respond(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const anywhere = createOutgoing(true);
    try {
      const { port } = server.address() as AddressInfo;
      const delivery = await anywhere.post(`http://127.0.0.1:${port}/`, {}, '{}');
      const answer = how === 'says nothing more' ? '' : 'ok';
      expect(delivery).toMatchObject({ statusCode: 200, error: null, answer });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await anywhere.close();
    }
  });
});
