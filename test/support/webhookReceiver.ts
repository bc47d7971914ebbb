import { createHmac, timingSafeEqual } from 'node:crypto';
import type { MessageRecord } from '../../domain/records.ts';
import { webhookBreach } from './contract.ts';
import { startHttpReceiver } from './httpReceiver.ts';

const TOLERANCE_SECONDS = 300;

/** The envelope of an event about a message (v2.3.0, Events). */
export interface WebhookEvent {
  id: string;
  type: string;
  created_at: string;
  data: { message: MessageRecord };
}

/** One call as it came. */
export interface ReceivedCall {
  at: number;
  /** Whether the signature is right for the secret and fresh (v2.3.0, Events). */
  verified: boolean;
  event: WebhookEvent;
  /** How the body differs from what the OpenAPI document says of such an event; null when it does not. */
  breach: string | null;
  headers: Record<string, string | string[] | undefined>;
}

/** A local receiver of webhooks. */
export interface WebhookReceiver {
  url: string;
  calls: ReceivedCall[];
  /**
   * Resolves with all calls as soon as the condition holds; rejects when it does not in time, or when a call was not what
   * the OpenAPI document says.
   */
  until(holds: (calls: ReceivedCall[]) => boolean, patienceMs?: number): Promise<ReceivedCall[]>;
  /** What `PUT /v1/account/webhook` answered; nothing is verified before it is told. */
  useSecret(secret: string): void;
  close(): Promise<void>;
}

/** Answers of a receiver that refuses every n-th call, so that second attempts are under way too. */
export const refusingEvery =
  (n: number) =>
  (call: number): number =>
    call % n === 0 ? 503 : 200;

/**
 * Starts a receiver.
 * @param answer the status for the n-th call, counted from 1, at once or in its time; 200 unless told
 */
export async function startReceiver(
  answer: (call: number, event: WebhookEvent) => number | Promise<number> = () => 200,
): Promise<WebhookReceiver> {
  const calls: ReceivedCall[] = [];
  const waiting = new Set<() => void>();
  let secret = '';
  const server = await startHttpReceiver((response, raw, { headers }) => {
    const header = headers['x-service-signature'];
    const text = raw.toString('utf8');
    const event = JSON.parse(text) as WebhookEvent;
    calls.push({
      at: Date.now(),
      verified: typeof header === 'string' && isSigned(header, raw, secret),
      event,
      breach: webhookBreach(event.type, text),
      headers,
    });
    void Promise.resolve(answer(calls.length, event)).then((status) => response.writeHead(status).end());
    for (const wake of waiting) wake();
  });
  return {
    url: `${server.url}/webhook`,
    calls,
    until(holds, patienceMs = 300_000) {
      return new Promise((resolve, reject) => {
        const check = () => {
          const breach = calls.find((one) => one.breach !== null)?.breach;
          if (breach === undefined && !holds(calls)) return;
          clearTimeout(patience);
          waiting.delete(check);
          if (breach === undefined) resolve(calls);
          else reject(new Error(String(breach)));
        };
        const patience = setTimeout(() => {
          waiting.delete(check);
          const types = calls.map(({ event }) => event.type).join(', ');
          reject(new Error(`webhooks waited for in vain; came: ${types}`));
        }, patienceMs);
        waiting.add(check);
        check();
      });
    },
    useSecret: (value) => (secret = value),
    close: () => server.close(),
  };
}

/** The check of a signature as the interface tells receivers to make it: over the raw body, at most 300 s old. */
export function isSigned(header: string, raw: Buffer, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header);
  if (match === null || Math.abs(Date.now() / 1000 - Number(match[1])) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${match[1]}.`).update(raw).digest();
  return timingSafeEqual(expected, Buffer.from(match[2]!, 'hex'));
}
