import { describe, expect, it } from 'vitest';
import { DomainProblem, type DomainRule } from '../../providers/email.ts';
import { resend as kind } from '../../providers/resend/kind.ts';
import { openResend } from './resendClient.ts';
import { errorAnswer, type ListedDomain, type ResendServer, write } from './resendServer.ts';

const NAME = 'news.firma.example';
const rule = kind.email!.domains as DomainRule<unknown, unknown> & { by: 'provider' };

async function open() {
  const resend = await openResend();
  const asked = [{ url: resend.url }, { apiKey: resend.apiKey }] as const;
  return {
    resend,
    add: (name = NAME) => rule.add(...asked, name),
    check: (id: string) => rule.check(...asked, id),
    remove: (id: string) => rule.remove(...asked, id),
  };
}

const requests = ({ calls }: ResendServer) => calls.map(({ method, path }) => `${method} ${path}`);
const listed = (n: number): ListedDomain => ({
  ...{ id: `id-${n}`, name: `d${n}.example`, status: 'verified', region: 'eu-west-1' },
  ...{ created_at: '2026-11-01 10:00:00.123456+00', records: [] },
});

describe('a sender domain at Resend', () => {
  it('is added, with the records that its owner has to set, by their whole names', async () => {
    const { resend, add } = await open();
    const added = await add();
    expect(added).toEqual({
      id: resend.domains[1]!.id,
      verified: false,
      records: [
        {
          ...{ type: 'MX', name: 'send.news.firma.example', value: 'feedback-smtp.eu-west-1.amazonses.com' },
          ...{ priority: 10, purpose: 'return_path', seen: false },
        },
        {
          ...{ type: 'TXT', name: 'send.news.firma.example', value: 'v=spf1 include:amazonses.com ~all' },
          ...{ priority: null, purpose: 'spf', seen: false },
        },
        {
          ...{ type: 'TXT', name: 'resend._domainkey.news.firma.example' },
          ...{
            value: 'p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ',
            priority: null,
            purpose: 'dkim',
            seen: false,
          },
        },
      ],
    });
    expect(resend.domains[1]).toMatchObject({ name: NAME, region: 'eu-west-1' });
  });

  it('at the apex of a zone has names without a subdomain', async () => {
    const { add } = await open();
    const names = (await add('firma.example')).records.map((record) => record.name);
    expect(names).toEqual(['send.firma.example', 'send.firma.example', 'resend._domainkey.firma.example']);
  });

  it('that is there already is found, on the third page too', async () => {
    const { resend, add } = await open();
    const first = await add();
    resend.domains.unshift(...Array.from({ length: 250 }, (_, n) => listed(n)));
    expect(await add()).toEqual(first);
    expect(resend.domains.filter(({ name }) => name === NAME)).toHaveLength(1);
    expect(requests(resend).filter((request) => request === 'GET /domains')).toHaveLength(3);
  });

  it('is verified once its records are there, and what is missing is named', async () => {
    const { resend, add, check } = await open();
    const { id } = await add();
    resend.inDns = ({ record }) => record === 'DKIM';
    const half = await check(id);
    expect(half).toMatchObject({ verified: false });
    expect(half!.records.map(({ seen }) => seen)).toEqual([false, false, true]);
    resend.inDns = () => true;
    expect(await check(id)).toMatchObject({
      verified: true,
      records: [{ seen: true }, { seen: true }, { seen: true }],
    });
  });

  it('that is verified is not looked at anew: it would be pending meanwhile', async () => {
    const { resend, add, check } = await open();
    const { id } = await add();
    await check(id);
    resend.calls.length = 0;
    expect(await check(id)).toMatchObject({ verified: true });
    expect(requests(resend)).toEqual([`GET /domains/${id}`]);
  });

  it.each([
    ['verified', ['verified', 'temporary_failure', 'verified'], true],
    ['temporary_failure', ['verified', 'temporary_failure', 'verified'], true],
    ['partially_verified', ['verified', 'verified', 'verified'], true],
    ['partially_verified', ['verified', 'pending', 'verified'], false],
    ['partially_failed', ['verified', 'verified', 'verified'], true],
    ['pending', ['verified', 'verified', 'verified'], false],
    ['something new', ['verified', 'verified', 'verified'], false],
  ])('with the status %s and records %j: verified %s', async (status, records, verified) => {
    const { resend, add, check } = await open();
    const { id } = await add();
    const domain = resend.domains.find((one) => one.id === id)!;
    resend.always((response, take) => {
      domain.status = status;
      domain.records.forEach((record, index) => (record.status = records[index]!));
      void take().then((answer) => {
        domain.status = status;
        write(response, answer);
      });
    });
    resend.inDns = () => false;
    const checked = await check(id);
    expect(checked!.verified).toBe(verified);
  });

  it('has no records but those for sending', async () => {
    const { resend, add, check } = await open();
    const { id } = await add();
    const other = { ttl: 'Auto', status: 'not_started', value: 'x.example' };
    resend.domains[1]!.records.push(
      { ...other, record: 'Receiving', type: 'MX', name: 'news', priority: 9 },
      { ...other, record: 'Tracking', type: 'CNAME', name: 'links.news' },
      { ...other, record: 'TrackingCAA', type: 'CAA', name: 'news' },
    );
    expect((await check(id))!.records).toHaveLength(3);
  });

  it('that is gone is null when checked, and no problem when removed', async () => {
    const { resend, add, check, remove } = await open();
    const { id } = await add();
    await remove(id);
    expect(resend.domains.map(({ name }) => name)).not.toContain(NAME);
    await remove(id);
    expect(await check(id)).toBeNull();
  });

  it('is asked about again where the provider was asked too often', async () => {
    const { resend, add } = await open();
    let refused = 0;
    resend.always((response, take) => {
      const headers = { 'retry-after': '1' };
      if ((refused += 1) === 1) write(response, { ...errorAnswer(429, 'rate_limit_exceeded'), headers });
      else void take().then((answer) => write(response, answer));
    });
    expect(await add()).toMatchObject({ verified: false });
  });
});

describe('a provider without a usable answer about a domain', () => {
  it.each([
    [
      'a wrong key',
      errorAnswer(403, 'invalid_api_key', 'API key is invalid'),
      'wrong API key (invalid_api_key)',
    ],
    ['an error', errorAnswer(500, 'internal_server_error', 'Oops\u0007'), 'internal_server_error: Oops '],
    ['a page', { status: 200, json: '<html>' }, 'not understood'],
    ['no records', { status: 200, json: { id: 'a', name: NAME, status: 'verified' } }, 'not understood'],
    [
      'no id',
      { status: 200, json: { id: '../x', name: NAME, status: 'verified', records: [] } },
      'not understood',
    ],
  ])('%s is a problem, in words', async (_, answer, words) => {
    const { resend, add, check } = await open();
    resend.always((response) => write(response, answer));
    for (const ask of [() => add(), () => check('id-1')]) {
      const problem = await ask().then(
        () => null,
        (error: unknown) => error,
      );
      expect(problem).toBeInstanceOf(DomainProblem);
      expect(String(problem)).toContain(words);
      expect(String(problem)).not.toContain(resend.apiKey);
    }
  });

  it('a reset is a problem, and what is no id goes nowhere', async () => {
    const { resend, add, check, remove } = await open();
    resend.always((response) => void response.destroy());
    await expect(add()).rejects.toThrow(/no answer/);
    resend.always(null);
    resend.calls.length = 0;
    await expect(check('../api-keys')).rejects.toThrow(DomainProblem);
    await expect(remove('a/b?c')).rejects.toThrow(DomainProblem);
    expect(resend.calls).toEqual([]);
  });

  it('a domain that others have is a problem that the provider words', async () => {
    const { resend, add } = await open();
    resend.always((response, take) => {
      void take().then((answer) =>
        write(
          response,
          answer.status === 201 ? errorAnswer(403, 'validation_error', 'Taken by others.') : answer,
        ),
      );
      resend.domains.length = 0;
    });
    await expect(add()).rejects.toThrow('validation_error: Taken by others.');
  });
});
