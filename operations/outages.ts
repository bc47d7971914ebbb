import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { QueueTimeoutError, waitFor } from '../concurrency/tasks.ts';
import type { Outage } from '../domain/refusals.ts';
import { SQLSTATE } from '../db/connection.ts';

// What postgres.js says when there is no connection, and the SQLSTATEs of a server that is starting, stopping or full.
const DATABASE_GONE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  '53300',
  '57P01',
  '57P02',
  '57P03',
]);
// The last three are a statement, a transaction and a wait for a lock that took too long.
const DATABASE_SLOW = new Set<string>([
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  SQLSTATE.statementCancelled,
  SQLSTATE.transactionTimeout,
  SQLSTATE.lockNotAvailable,
]);
const GRPC_TIMEOUTS: readonly number[] = [1, 4]; // CANCELLED, DEADLINE_EXCEEDED

/** Time ran out before something behind the API had answered. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Distinguishes a failure of the database or of Temporal from a fault of ours.
 * @returns null when the error is something else
 */
export function outageOf(error: unknown): Outage | null {
  if (error instanceof DeadlineError || error instanceof QueueTimeoutError) return 'timed_out';
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return 'timed_out';
  const grpc = error instanceof ServiceError ? error.cause : error;
  if (isGrpcServiceError(grpc)) {
    return GRPC_TIMEOUTS.includes(grpc.code) ? 'timed_out' : 'unavailable';
  }
  if (error instanceof ServiceError) return 'unavailable';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (DATABASE_SLOW.has(code)) return 'timed_out';
  return DATABASE_GONE.has(code) || code.startsWith('08') ? 'unavailable' : null;
}

/**
 * Waits no longer than until the given moment. The work itself goes on: what it does must be harmless then.
 * @param until epoch milliseconds
 * @throws DeadlineError when it is not done by then
 */
export async function within<T>(until: number, work: Promise<T>): Promise<T> {
  return await waitFor(work, until - Date.now(), () => {
    throw new DeadlineError('no answer in time');
  });
}
