import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANNELS } from '../../domain/channelDeclaration.ts';
import { readAnswer } from '../../providers/smsapi/answers.ts';
import { callbackAddress } from '../../providers/callbacks.ts';
import { readLookup, readReply, readReports } from '../../providers/smsapi/callbacks.ts';
import { findingOf } from '../../providers/smsapi/http.ts';
import { readLookupAnswer } from '../../providers/smsapi/lookup.ts';
import { idxOf, referenceOf, hasPlaceholder } from '../../providers/smsapi/request.ts';
import { CALLBACK_PATHS, smsapiCredentials, smsapiSettings } from '../../providers/smsapi/settings.ts';

const fieldNames = [
  'MsgId',
  'status',
  'status_name',
  'idx',
  'to',
  'donedate',
  'id',
  'info',
  'mcc',
  'mnc',
  'ported',
];
const replyNames = ['sms_from', 'sms_to', 'sms_text', 'sms_date', 'MsgId'];
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('404', '404,405', 'a,b', ',', ''),
);
const anyFields = (names: string[]) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), anyText), { selector: ([name]) => name })
    .map((entries) => new Map(entries));
const anyChannel = fc.constantFrom(...CHANNELS);
const storedAsIs = /^[^\0\p{Surrogate}]*$/u;

describe('what comes from outside', () => {
  it('whatever it is, never breaks the reading of a callback, and what is read can be stored', () => {
    fc.assert(
      fc.property(anyFields(fieldNames), (fields) => {
        for (const report of readReports(fields) ?? []) {
          const { providerMessageId, reference, phone, errorCode, details } = report;
          for (const text of [providerMessageId, reference, phone, errorCode, details]) {
            expect(text ?? '').toMatch(storedAsIs);
            expect((text ?? '').length).toBeLessThanOrEqual(300);
          }
        }
        expect(readLookup(fields)?.providerId ?? '').toMatch(storedAsIs);
      }),
    );
    fc.assert(
      fc.property(anyFields(replyNames), (fields) => {
        const { from = '', to = '', text = '' } = readReply(fields) ?? {};
        for (const stored of [from, to, text]) expect(stored ?? '').toMatch(storedAsIs);
      }),
    );
  });

  it('whatever it is, never breaks the reading of an answer', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 100, max: 599 }), anyChannel, (json, status, channel) => {
        const exchange = { kind: 'answered', status, json, headers: {} } as const;
        expect(['broken', 'throttled', 'later', 'refused', 'unanswered', 'accepted']).toContain(
          readAnswer(exchange, channel, {}).answer.kind,
        );
        expect(['failed', 'found', 'waiting', 'timed_out']).toContain(readLookupAnswer(exchange).kind);
      }),
    );
  });
});

describe('idx', () => {
  it('stands for our reference in letters and digits, also with its case lost', () => {
    const reference = `msg_${'0123456789abcdefghjkmnpqrs'}/0`;
    const idx = idxOf(reference)!;
    expect(idx).toMatch(/^[a-z0-9]{1,36}$/);
    expect(referenceOf(idx.toUpperCase())).toBe(reference);
    expect(idxOf('msg_short/1')).toBeNull();
    expect(['', 'x', `${idx}|`, `${idx}0000`].map(referenceOf)).toEqual([null, null, null, null]);
  });
});

describe('a text that the provider would change', () => {
  it.each(['[%imie%]', 'a [%1%] b', '[%idzdo:https://a.pl%]', '[%%]'])('%s is', (text) => {
    expect(hasPlaceholder(text)).toBe(true);
  });
  it.each(['50%', '[50%]', '[% a', '%]', '[a]%', '[%a]%]'])('%s is not', (text) => {
    expect(hasPlaceholder(text)).toBe(false);
  });
});

describe('a finding', () => {
  it('names network and country where it can', () => {
    const network = (mcc: string, mnc: string) => {
      const { mcc: country, mnc: code, network: name } = findingOf({ status: 'OK', mcc, mnc });
      return [country, code, name];
    };
    expect(network('260', '1')).toEqual(['260', '01', 'Plus']);
    expect(network('260', '06')).toEqual(['260', '06', 'Play']);
    expect(network('310', '410')).toEqual(['310', '410', null]);
    expect(network('0', '0')).toEqual([null, null, null]);
    expect(network('abc', '1')).toEqual([null, null, null]);
    expect(network('2600', '12345')).toEqual([null, null, null]);
  });
});

describe('settings', () => {
  const refused = (settings: object) => !smsapiSettings.safeParse(settings).success;

  it('have a default each', () => {
    expect(smsapiSettings.parse({})).toMatchObject({
      ...{ url: 'https://api.smsapi.pl', window: 20, responseSeconds: 10, lookups: 'callback' },
    });
  });

  it('let the token travel in clear to this machine only', () => {
    expect(refused({ url: 'http://api.smsapi.pl' })).toBe(true);
    expect(refused({ url: 'http://127.0.0.1.evil.example' })).toBe(true);
    expect(refused({ backupUrl: 'http://10.0.0.1' })).toBe(true);
    expect(refused({ url: 'https://user:pass@api.smsapi.pl' })).toBe(true);
    expect(refused({ url: 'https://api.smsapi.pl/?a=b' })).toBe(true);
    expect(refused({ url: 'ftp://api.smsapi.pl' })).toBe(true);
    expect(smsapiSettings.parse({ url: 'http://127.0.0.1:8080/' }).url).toBe('http://127.0.0.1:8080');
    expect(smsapiSettings.parse({ url: 'https://proxy.example/smsapi/' }).url).toBe(
      'https://proxy.example/smsapi',
    );
  });

  it('refuse what means nothing', () => {
    expect(refused({ unknown: 1 })).toBe(true);
    expect(refused({ window: 0 })).toBe(true);
    expect(refused({ errors: { '13': 'refused:30' } })).toBe(true);
    expect(refused({ errors: { x: 'later' } })).toBe(true);
    expect(refused({ validityMinMinutes: 100, validityMaxMinutes: 60 })).toBe(true);
    expect(refused({ callbackAddresses: ['example.org'] })).toBe(true);
    expect(
      refused({ errors: { '13': 'later:30', '999': 'unknown' }, callbackAddresses: ['::1', '192.0.2.1'] }),
    ).toBe(false);
  });

  it('and credentials cannot smuggle anything into a header or a path', () => {
    const fits = (token: string, callbackSecret: string) =>
      smsapiCredentials.safeParse({ token, callbackSecret }).success;
    const secret = 'a'.repeat(32);
    expect(fits('token-123', secret)).toBe(true);
    expect(fits('token\r\nX: y', secret)).toBe(false);
    expect(fits('token 123', secret)).toBe(false);
    expect(fits('token-123', 'a'.repeat(31))).toBe(false);
    expect(fits('token-123', `${secret}/..`)).toBe(false);
    const address = callbackAddress('https://a.example', 'smsapi', CALLBACK_PATHS.replies, secret);
    expect(address).toBe(`https://a.example/callbacks/smsapi/${secret}/replies`);
  });
});
