import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import * as webhooks from '../../domain/webhooks.ts';
import { sign } from '../../pipeline/webhookAttempts.ts';

// Expectations are those of v2.3.0, Events.
test('an event is tried three times, at 0 s, 2 s and 10 s', () => {
  expect(webhooks.ATTEMPTS).toBe(3);
  let atMs = 0;
  const tried = [atMs];
  for (let number = 1; number < 10 && webhooks.pauseAfterAttempt(number) !== null; number += 1) {
    atMs += webhooks.pauseAfterAttempt(number)!;
    tried.push(atMs);
  }
  expect(tried).toEqual([0, 2_000, 10_000]);
});

test('a call is signed in X-Service-Signature by its time and body', () => {
  expect(webhooks.SIGNATURE_HEADER).toBe('X-Service-Signature');
  const hex = createHmac('sha256', 'whsec_x').update('1767225600.{"id":"evt_1"}').digest('hex');
  const signature = sign('{"id":"evt_1"}', 'whsec_x', 1_767_225_600);
  expect(signature).toBe(`t=1767225600,v1=${hex}`);
  expect(signature).toMatch(new RegExp(webhooks.SIGNATURE_PATTERN));
});

test('the secret before signs in a header of its own, in the same form', () => {
  expect(webhooks.PREVIOUS_SIGNATURE_HEADER).toBe('X-Service-Signature-Previous');
});

describe('the earlier interface (v1.2.0, Events)', () => {
  const CURRENT = [
    ...['message.sent', 'message.delivered', 'message.undelivered', 'message.failed', 'message.expired'],
    ...['message.received', 'link.clicked'],
  ];

  test.each(['delivery_report', 'incoming_sms', 'email_event'])('%s is of it, and tried once', (type) => {
    expect(webhooks.isEarlierEvent(type)).toBe(true);
    expect(webhooks.attemptsOf(type)).toBe(1);
    expect(webhooks.pauseAfterAttempt(1, webhooks.attemptsOf(type))).toBeNull();
  });

  test.each(CURRENT)('%s is not, and is tried three times', (type) => {
    expect(webhooks.WEBHOOK_EVENT_TYPES).toContain(type);
    expect(webhooks.isEarlierEvent(type)).toBe(false);
    expect(webhooks.attemptsOf(type)).toBe(3);
  });

  test('one more attempt, which somebody asked for, is not followed by others', () => {
    expect([webhooks.pauseAfterAttempt(2, 1), webhooks.pauseAfterAttempt(4, 3)]).toEqual([null, null]);
  });

  test('a call is signed by its version, time and body', () => {
    const t = 1_767_225_600;
    const text = webhooks.earlierSignedText(t, '{"event":"incoming_sms"}');
    expect(text).toBe('v1.1767225600.{"event":"incoming_sms"}');
    const hex = createHmac('sha256', 'whsec_x').update(text).digest('hex');
    expect(webhooks.earlierSignatureOf(t, hex)).toBe(`v1,t=1767225600,sig=${hex}`);
  });
});

describe('the pattern of a signature', () => {
  const hex = '0123456789abcdef'.repeat(4);
  const current = `t=1767225600,v1=${hex}`;
  const earlier = `v1,t=1767225600,sig=${hex}`;
  const wrong = [
    ...['', hex, `t=,v1=${hex}`, `t=1767225600,v1=`, `t=1767225600,v1=${hex.slice(1)}`, `${current}0`],
    ...[`${current},v1=${hex}`, ` ${current}`, current.toUpperCase(), `t=1767225600.5,v1=${hex}`],
    ...[`v1,t=,sig=${hex}`, 'v1,t=1767225600,sig=', `v1,t=1767225600,sig=${hex.slice(1)}`, `${earlier}0`],
    ...[`t=1767225600,sig=${hex}`, ` ${earlier}`, `v2,t=1767225600,sig=${hex}`],
  ];

  test.each([
    ['current', webhooks.SIGNATURE_PATTERN, current],
    ['earlier', webhooks.EARLIER_SIGNATURE_PATTERN, earlier],
  ])('of the %s interface fits that alone', (_name, pattern, signature) => {
    expect([...wrong, current, earlier].filter((text) => new RegExp(pattern).test(text))).toEqual([
      signature,
    ]);
  });
});

test.each([
  ['https://a.example/', 'https://a.example'],
  ['https://a.example:8443/hook', 'https://a.example:8443/…'],
  ['https://a.example/?of=theirs', 'https://a.example/…'],
  ['nowhere', null],
  [null, null],
])('%s is shown without path and query: %s', (address, shown) => {
  expect(webhooks.withoutPath(address)).toBe(shown);
});
