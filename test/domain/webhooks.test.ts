import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import * as webhooks from '../../domain/webhooks.ts';
import { sign } from '../../pipeline/signatures.ts';

// Expectations are those of v2.3.0, Events.
test('an event is tried three times, at 0 s, 2 s and 10 s', () => {
  expect(webhooks.ATTEMPTS).toBe(3);
  let atMs = 0;
  const tried = [atMs];
  for (let number = 1; webhooks.pauseAfterAttempt(number) !== null; number += 1) {
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
