import { describe, expect, it, test } from 'vitest';
import { type DnsRecord, isPublished, ownRecords, returnPathOf } from '../../domain/email/dns.ts';
import { readDomainName, selectorOf } from '../../domain/email/address.ts';
import {
  afterCheck,
  eventBetween,
  LOST_AFTER_MS,
  recordsOf,
  statusOf,
  UNCHECKED,
} from '../../domain/email/domainStates.ts';

describe('the name of a sender domain', () => {
  it.each([
    ['sklep.example', 'sklep.example'],
    ['żółw.example', 'xn--w-uga1v8h.example'],
    ['ŻÓŁW.Example', 'xn--w-uga1v8h.example'],
    ['a-b.c1.example', 'a-b.c1.example'],
    ['sklep。example', 'sklep.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('is %s in DNS: %s', (typed, name) => {
    expect(readDomainName(typed)).toBe(name);
  });

  it.each([
    '',
    'sklep',
    'sklep.example.',
    'sklep..example',
    '*.sklep.example',
    '_dmarc.sklep.example',
    '-a.example',
    'a-.example',
    'sklep.1',
    '1.2.3.4',
    '①.②.③.④',
    'sklep.example:25',
    'http://sklep.example',
    'jan@sklep.example',
    'sklep.example/a',
    ' sklep.example',
    'sklep.example\n',
    'sklep\0.example',
    'a%2e.example',
    'xn--a.example',
    'xn--.example',
    'xn--xn--a--gua.example',
    'sklep.c',
    "sklep'.example",
    'sklep.example\u3000',
    `${'a'.repeat(64)}.example`,
    `${'ż'.repeat(60)}.example`,
    'a'.repeat(100_000),
    '\ud800.example',
  ])('is not %j', (typed) => {
    expect(readDomainName(typed)).toBeNull();
  });

  it('leaves room for the longest of its records', () => {
    const label = `${'a'.repeat(59)}.`;
    const long = `${label.repeat(3)}${'b'.repeat(38)}.example`;
    expect(long).toHaveLength(226);
    expect(readDomainName(long)).toBe(long);
    expect(readDomainName(`b${long.slice(0, -8)}c.example`)).toBeNull();
    const records = ownRecords({ name: long, selector: selectorOf('dom_01k0000000'), publicKey: 'k' }, 'm');
    expect(Math.max(...records.map(({ name }) => name.length))).toBe(253);
  });
});

describe('the records of a domain whose e-mails we sign', () => {
  const domain = { name: 'sklep.example', selector: 'goniec-01234567', publicKey: 'AbC+/=' };
  const signature = {
    ...{ type: 'TXT', name: 'goniec-01234567._domainkey.sklep.example', priority: null, purpose: 'dkim' },
    value: 'v=DKIM1; k=rsa; p=AbC+/=',
  };
  const senders = (value: string) => ({
    ...{ type: 'TXT', name: 'send.sklep.example', priority: null, purpose: 'spf', value },
  });
  const bounces = {
    ...{ type: 'MX', name: 'send.sklep.example', priority: 10, purpose: 'return_path' },
    value: 'mail.example',
  };

  it('are its key, who may send for the return path, and where that one is', () => {
    expect(ownRecords(domain, 'mail.example')).toEqual([
      signature,
      senders('v=spf1 a:mail.example ~all'),
      bounces,
    ]);
    expect(returnPathOf('sklep.example')).toBe('send.sklep.example');
  });

  it('name other senders before the end of SPF', () => {
    const others = ['include:_spf.relay.example', 'ip4:192.0.2.1'];
    expect(ownRecords(domain, 'mail.example', others)).toEqual([
      signature,
      senders('v=spf1 a:mail.example include:_spf.relay.example ip4:192.0.2.1 ~all'),
      bounces,
    ]);
  });

  it('are there once they are set as they are', () => {
    for (const one of ownRecords(domain, 'mail.example', ['include:_spf.relay.example'])) {
      expect(isPublished(one, ['unrelated', one.value])).toBe(true);
      expect(isPublished(one, ['unrelated'])).toBe(false);
    }
  });
});

const record = (
  purpose: DnsRecord['purpose'],
  value: string,
  type: DnsRecord['type'] = 'TXT',
): DnsRecord => ({ ...{ type, name: 'send.sklep.example', value, priority: null, purpose } });

describe('a key of DKIM', () => {
  const wanted = record('dkim', 'v=DKIM1; k=rsa; p=AbC+/=');
  it.each([
    ['v=DKIM1; k=rsa; p=AbC+/='],
    ['p=AbC+/=;k=rsa;v=DKIM1;'],
    ['  v = DKIM1 ;p= Ab\tC+ /= ; h=sha1:sha256; s=email; t=s; n=our key'],
    ['p=AbC+/='],
    ['v=DKIM1; s=*; p=AbC+/='],
    ['v=DKIM1; s=tlsrpt:email; p=AbC+/='],
  ])('is there as %j', (text) => {
    expect(isPublished(wanted, ['unrelated', text])).toBe(true);
  });
  it('is there beside texts without tags', () => {
    expect(isPublished(wanted, ['to prove; to prove', wanted.value])).toBe(true);
  });
  it.each([
    [],
    ['v=DKIM1; k=rsa; p=abC+/='],
    ['v=DKIM1; k=rsa; p='],
    ['v=DKIM1; k=ed25519; p=AbC+/='],
    ['v=DKIM2; p=AbC+/='],
    ['v=DKIM1; h=sha1; p=AbC+/='],
    ['v=DKIM1; s=other; p=AbC+/='],
    ['v=DKIM1; p=AbC+/=; p=AbC+/='],
    ['v=DKIM1; p=AbC+/=', 'v=DKIM1; p=another'],
    ['v=DKIM1; p=AbC+/=', 'p=AbC+/='],
  ])('is not there with %j', (...texts) => {
    expect(isPublished(wanted, texts)).toBe(false);
  });
  it('that is void itself is never there', () => {
    expect(isPublished(record('dkim', 'p=AbC; p=AbC'), ['p=AbC'])).toBe(false);
  });
});

describe('SPF', () => {
  const wanted = record('spf', 'v=spf1 a:mail.example include:_spf.relay.example ~all');
  it.each([
    ['v=spf1 a:mail.example include:_spf.relay.example ~all'],
    ['V=SPF1  include:_spf.relay.example  mx +A:Mail.Example. -all'],
    ['v=spf1 a:mail.example include:_spf.relay.example'],
    ['v=spf1 include:spf.overall a:mail.example include:_spf.relay.example ~all'],
    ['v=spf1 allow=1 a:mail.example include:_spf.relay.example ?all'],
  ])('is there as %j', (text) => {
    expect(isPublished(wanted, ['other=1', text])).toBe(true);
  });
  it.each([
    [],
    ['v=spf1 a:mail.example ~all'],
    ['v=spf1 -a:mail.example include:_spf.relay.example ~all'],
    ['v=spf1 a:mail.example ~all include:_spf.relay.example'],
    ['v=spf10 a:mail.example include:_spf.relay.example ~all'],
    ['v=spf1 a:mail.example include:_spf.relay.example ~all', 'v=spf1 -all'],
    ['v=spf1 a:mail.example include:_spf.relay.example ~all', 'v=spf1'],
    ['v=spf1 all a:mail.example include:_spf.relay.example'],
  ])('is not there with %j', (...texts) => {
    expect(isPublished(wanted, texts)).toBe(false);
  });
  it('is there beside a text that has its beginning further on', () => {
    expect(isPublished(wanted, ['was: v=spf1 -all', wanted.value])).toBe(true);
  });
  it('is looked for by its terms, whatever blanks are beside them', () => {
    expect(isPublished(record('spf', 'v=spf1  a:mail.example '), ['v=spf1 a:mail.example -all'])).toBe(true);
  });
  it('has a plus that means nothing before a term alone', () => {
    const macro = record('spf', 'v=spf1 exists:%{l1+}.relay.example ~all');
    expect(isPublished(macro, ['v=spf1 +exists:%{l1+}.relay.example ~all'])).toBe(true);
    expect(isPublished(macro, ['v=spf1 exists:%{l1}.relay.example ~all'])).toBe(false);
  });
});

test('hosts are compared without case and final dot, other texts as they are', () => {
  for (const type of ['MX', 'CNAME'] as const) {
    const wanted = record('return_path', 'mail.example', type);
    expect(isPublished(wanted, ['other.example', 'MAIL.Example.'])).toBe(true);
    expect(isPublished(wanted, ['xmail.example'])).toBe(false);
    expect(isPublished(wanted, [])).toBe(false);
  }
  expect(isPublished(record('return_path', 'token=A'), ['other', ' token=A '])).toBe(true);
  expect(isPublished(record('return_path', 'token=A'), ['token=a'])).toBe(false);
});

describe('how a domain stands with a route', () => {
  const now = new Date('2027-01-01T12:00:00Z');
  const earlier = (ms: number) => new Date(now.getTime() - ms);
  const verified = { ...UNCHECKED, verifiedAt: earlier(1e9) };
  const at = { confirmed: false, now };

  it('is verified at once, and lost at the second look after ten minutes', () => {
    expect(afterCheck(UNCHECKED, 'verified', at)).toEqual({ ...UNCHECKED, verifiedAt: now });
    expect(LOST_AFTER_MS).toBe(600_000);
    const missing = afterCheck(verified, 'missing', at);
    expect(missing).toEqual({ ...verified, missingSince: now });
    const since = (ms: number) => ({ ...verified, missingSince: earlier(ms) });
    expect(afterCheck(since(LOST_AFTER_MS - 1), 'missing', at)).toEqual(since(LOST_AFTER_MS - 1));
    expect(afterCheck(since(LOST_AFTER_MS), 'missing', at)).toEqual({ ...UNCHECKED, lostAt: now });
    expect(afterCheck(since(LOST_AFTER_MS), 'verified', at)).toEqual(verified);
    expect(afterCheck({ ...UNCHECKED, lostAt: earlier(1) }, 'verified', at)).toEqual({
      ...UNCHECKED,
      verifiedAt: now,
    });
  });

  it('stays as it is where there was no answer, or it never was verified', () => {
    for (const before of [UNCHECKED, verified, { ...verified, missingSince: earlier(1e9) }]) {
      expect(afterCheck(before, 'unknown', at)).toEqual(before);
    }
    expect(afterCheck(UNCHECKED, 'missing', at)).toEqual(UNCHECKED);
    const lost = { ...UNCHECKED, lostAt: earlier(5) };
    expect(afterCheck(lost, 'missing', at)).toEqual(lost);
  });

  it('is verified where staff say so, whatever was seen', () => {
    const confirmed = { confirmed: true, now };
    expect(afterCheck(UNCHECKED, 'missing', confirmed)).toEqual({ ...UNCHECKED, verifiedAt: now });
    expect(afterCheck({ ...verified, missingSince: earlier(1e9) }, 'missing', confirmed)).toEqual(verified);
  });

  it('makes one status, and events of its changes', () => {
    const lost = { ...UNCHECKED, lostAt: now };
    expect(statusOf(false, [])).toBe('pending');
    expect(statusOf(false, [UNCHECKED])).toBe('pending');
    expect(statusOf(true, [])).toBe('verified');
    expect(statusOf(false, [UNCHECKED, lost])).toBe('lost');
    expect(statusOf(false, [lost, verified])).toBe('verified');
    const stands = (status: 'pending' | 'verified' | 'lost', routesLost = 0) => ({ status, routesLost });
    expect(eventBetween(stands('pending'), stands('verified'))).toBe('domain.verified');
    expect(eventBetween(stands('pending'), stands('pending'))).toBeNull();
    expect(eventBetween(stands('verified'), stands('verified'))).toBeNull();
    expect(eventBetween(stands('verified'), stands('verified', 1))).toBe('domain.lost');
    expect(eventBetween(stands('verified', 1), stands('verified', 1))).toBeNull();
    expect(eventBetween(stands('verified', 1), stands('lost', 2))).toBe('domain.lost');
    expect(eventBetween(stands('lost', 2), stands('verified', 1))).toBe('domain.verified');
    expect(eventBetween(stands('verified', 1), stands('verified'))).toBe('domain.verified');
    expect(eventBetween(stands('verified'), stands('pending'))).toBeNull();
  });

  it('has every record once', () => {
    const one = { ...record('spf', 'a'), seen: true };
    const other = { ...record('spf', 'b'), seen: false };
    expect(recordsOf([{ records: [one] }, { records: [{ ...one, seen: false }, other] }])).toEqual([
      one,
      other,
    ]);
  });
});
