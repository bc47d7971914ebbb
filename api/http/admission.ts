import type { Request } from 'koa';
import type { ServerResponse } from 'node:http';
import { plainAddress } from '../../domain/addresses.ts';
import { type Counts, createCounts } from '../../concurrency/semaphore.ts';
import { afterAnswer } from '../../telemetry/afterAnswer.ts';
import { Refused } from '../../domain/refusals.ts';

/**
 * From where a request came, in one form of its many (IPv4 also where it hides in IPv6): the other end of the connection, or with
 * `TRUST_PROXY` what the proxy next to us wrote last into `X-Forwarded-For`. Where that is no address, the connection's.
 */
export function clientAddress(context: Pick<Request, 'ip' | 'req'>): string {
  return plainAddress(context.ip) ?? plainAddress(context.req.socket.remoteAddress ?? '') ?? UNKNOWN;
}

// Of a connection that was closed before it was looked at.
const UNKNOWN = '0.0.0.0';

/** How many requests of one account are under way in this process at most. */
interface AdmissionLimits {
  requests: number;
  /** Of these, heavy ones: large bodies, tables, reports. */
  heavy: number;
}

/** A request that was let in. */
export interface Admitted {
  /** Counts it among the heavy ones as well; more than once is once. @throws Refused */
  acquireHeavySlot(): void;
  /** Aborted when its answer is written, or its caller has gone. */
  over: AbortSignal;
}

/** Lets requests in, by account. */
export interface Admission {
  /**
   * Counts a request until its answer is written, or its caller has gone.
   * @throws Refused when the account has as many under way as it may
   */
  enter(accountId: string, response: ServerResponse): Admitted;
}

const RETRY_SECONDS = 1;

/**
 * The bound on what one account keeps under way in this process, whatever each of its requests waits for: memory, sockets, and how many
 * statements of others wait behind its own for a connection.
 */
export function createAdmission(limits: AdmissionLimits): Admission {
  const requests = createCounts();
  const heavy = createCounts();
  return {
    enter(accountId, response) {
      const over = new AbortController();
      let isHeavy = false;
      take(requests, accountId, limits.requests, 'too_many_at_once');
      afterAnswer(response, () => {
        over.abort();
        requests.remove(accountId);
        if (isHeavy) heavy.remove(accountId);
      });
      return {
        acquireHeavySlot() {
          if (isHeavy || over.signal.aborted) return;
          take(heavy, accountId, limits.heavy, 'too_many_heavy_at_once');
          isHeavy = true;
        },
        over: over.signal,
      };
    },
  };
}

function take(
  counts: Counts,
  accountId: string,
  limit: number,
  reason: 'too_many_at_once' | 'too_many_heavy_at_once',
): void {
  if (counts.of(accountId) >= limit) throw new Refused({ reason, limit, seconds: RETRY_SECONDS });
  counts.add(accountId);
}
