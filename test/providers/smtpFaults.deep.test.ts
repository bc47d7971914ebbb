import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EmailAnswer } from '../../providers/email.ts';
import type { NotSubmitted } from '../../providers/provider.ts';
import { aFile, anEmail, openRoute, type OpenRoute, working } from '../smtp/client.ts';
import { type Fault, type FaultServer, startFaultServer } from '../smtp/faultServer.ts';

let server: FaultServer;
let route: OpenRoute;

beforeEach(async () => {
  server = await startFaultServer();
  const times = { responseSeconds: 0.5, connectSeconds: 0.5 };
  route = openRoute({ port: server.port, security: 'none', ...times }, {});
  await working(route);
});
afterEach(async () => {
  await route.provider.stop();
  await server.close();
});

const PIECE = Buffer.alloc(150_000, 7);
const large = () => anEmail({ attachments: [aFile('a.bin', [PIECE, PIECE])] });

describe('two hundred e-mails with faults at random', () => {
  it('are taken once, or twice never unless that was answered', async () => {
    const faults: Fault[] = [
      'reset',
      'silence',
      { reply: '451 4.3.0 no' },
      { reply: '421 4.3.2 no' },
      'reset',
    ];
    server.fault = (stage) => {
      if (stage === 'greeting' || stage === 'EHLO' || Math.random() > 0.06) return null;
      // Who has taken it says so, or nothing.
      const some = stage === 'taken' ? (['reset', 'silence'] as const) : faults;
      return some[Math.floor(Math.random() * some.length)]!;
    };
    const emails = Array.from({ length: 200 }, (_, i) => (i % 10 === 0 ? large() : anEmail()));
    const ends = new Map<string, EmailAnswer | NotSubmitted>();
    const queue = [...emails];
    const one = async (): Promise<void> => {
      for (let email = queue.pop(); email !== undefined; email = queue.pop()) {
        for (;;) {
          const answer = await route.send(email);
          ends.set(email.id, answer);
          if (answer.kind === 'accepted' || answer.kind === 'refused' || answer.kind === 'unanswered') break;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    await Promise.all(Array.from({ length: 6 }, one));
    const times = (id: string) => server.taken.filter((one) => one === id).length;
    for (const { id } of emails) {
      const { kind } = ends.get(id)!;
      expect(times(id)).toBeLessThanOrEqual(1);
      if (kind === 'accepted') expect(times(id)).toBe(1);
      else expect(kind).toBe('unanswered');
    }
    expect([...ends.values()].filter(({ kind }) => kind === 'accepted').length).toBeGreaterThan(100);
  });
});
