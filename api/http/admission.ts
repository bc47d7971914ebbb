import type { Request } from 'koa';
import type { ServerResponse } from 'node:http';
import { plainAddress } from '../../domain/addresses.ts';
import { type Counts, createCounts } from '../../concurrency/semaphore.ts';
import { afterAnswer } from '../../telemetry/afterAnswer.ts';
import { Refused } from '../../domain/refusals.ts';

/** The client's address: the connection's, or with `TRUST_PROXY` the last entry of `X-Forwarded-For`. IPv4-mapped IPv6 becomes IPv4. */
export function clientAddress(context: Pick<Request, 'ip' | 'req'>): string {
  return plainAddress(context.ip) ?? plainAddress(context.req.socket.remoteAddress ?? '') ?? UNKNOWN;
}

// The connection was closed before its address was read.
const UNKNOWN = '0.0.0.0';

/** Concurrent requests per account in this process. */
interface AdmissionLimits {
  requests: number;
  /** Those that are heavy: large bodies, CSV exports, reports. */
  heavy: number;
}

export interface Admitted {
  /** Counts the request among the account's heavy ones; idempotent. @throws Refused at the limit */
  acquireHeavySlot(): void;
  /** Aborted when the response is written or the client has disconnected. */
  closedSignal: AbortSignal;
}

export interface Admission {
  /** Counts a request until its response is written or its client disconnects. @throws Refused at the account's limit */
  enter(accountId: string, response: ServerResponse): Admitted;
}

const RETRY_SECONDS = 1;

/** Limits what one account occupies in this process: memory, sockets and the queue for database connections. */
export function createAdmission(limits: AdmissionLimits): Admission {
  const requests = createCounts();
  const heavy = createCounts();
  return {
    enter(accountId, response) {
      const over = new AbortController();
      let isHeavy = false;
      acquire(requests, accountId, limits.requests, 'too_many_at_once');
      afterAnswer(response, () => {
        over.abort();
        requests.remove(accountId);
        if (isHeavy) heavy.remove(accountId);
      });
      return {
        acquireHeavySlot() {
          if (isHeavy || over.signal.aborted) return;
          acquire(heavy, accountId, limits.heavy, 'too_many_heavy_at_once');
          isHeavy = true;
        },
        closedSignal: over.signal,
      };
    },
  };
}

function acquire(
  counts: Counts,
  accountId: string,
  limit: number,
  reason: 'too_many_at_once' | 'too_many_heavy_at_once',
): void {
  if (counts.of(accountId) >= limit) throw new Refused({ reason, limit, seconds: RETRY_SECONDS });
  counts.add(accountId);
}
