import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { email, file, leaves, openClient, working } from './resendClient.ts';
import { answers, garbage, half, refuses, resetEarly, silent, slow, taken } from './resendMischiefs.ts';
import { type Mischief, write } from './resendServer.ts';

it('200 e-mails among faults are taken once each, and all are known by the id they were taken as', async () => {
  const { resend, client, errors } = await openClient({ window: 10, responseSeconds: 1 });
  const faults: Mischief[] = [
    ...[taken, resetEarly, half, garbage, silent, slow],
    ...[answers(500, 'internal_server_error'), refuses(429, 'rate_limit_exceeded', undefined, {})],
    ...[answers(503, 'application_error'), refuses(409, 'concurrent_idempotent_requests')],
  ];
  const usual: Mischief = async (response, take) => write(response, await take());
  for (let n = 0; n < 200; n += 1)
    resend.next(randomInt(3) === 0 ? faults[randomInt(faults.length)]! : usual);

  const settle = async (): Promise<[string, string]> => {
    const given = email({ attachments: [file(randomBytes(randomInt(2000)), 96)] });
    for (;;) {
      const answer = await client.email!.submit(given, leaves);
      if (answer.kind === 'accepted') return [given.id, answer.providerEmailId];
      expect(['unanswered', 'throttled', 'later', 'broken']).toContain(answer.kind);
      if (answer.kind === 'broken') await working(client);
      else await delay(5);
    }
  };
  const settled = await Promise.all(Array.from({ length: 200 }, settle));
  expect(resend.sent).toHaveLength(200);
  expect(settled.toSorted()).toEqual(resend.sent.map(({ key, id }) => [key, id]).toSorted());
  expect(errors).toEqual([]);
}, 120_000);
