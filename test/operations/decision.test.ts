import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../db/connection.ts';
import type { Acceptance } from '../../domain/acceptance.ts';
import { decideRequest } from '../../operations/sending/decision.ts';

// Nothing is asked of it where the charge gives an answer.
const services = { sql: {} as Database, log: pino({ level: 'silent' }) };

const decided = (answer: Acceptance) =>
  decideRequest(services, 'req_1', Date.now(), () => Promise.resolve(answer));

describe('what a charge answers', () => {
  it('is charged', async () => {
    expect(await decided({ accepted: true })).toBe('charged');
  });

  it.each(['insufficient_funds', 'abandoned'] as const)(
    'is too little money: %s, as nobody abandons what its caller waits for',
    async (reason) => {
      expect(await decided({ accepted: false, reason })).toBe('insufficient_funds');
    },
  );
});
