import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { QueueTimeoutError, withTimeout } from '../concurrency/tasks.ts';
import type { Outage } from '../domain/refusals.ts';
import { SQLSTATE } from '../db/connection.ts';

// postgres.js errors without a connection, and SQLSTATEs of a server that is starting, stopping or out of connections.
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
// The last three: statement, transaction and lock timeouts.
const DATABASE_SLOW = new Set<string>([
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  SQLSTATE.statementCancelled,
  SQLSTATE.transactionTimeout,
  SQLSTATE.lockNotAvailable,
]);
const GRPC_TIMEOUTS: readonly number[] = [1, 4]; // CANCELLED, DEADLINE_EXCEEDED

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** Classifies a failure of the database or Temporal. @returns null for any other error */
export function outageOf(error: unknown): Outage | null {
  if (error instanceof DeadlineError || error instanceof QueueTimeoutError) return 'timed_out';
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return 'timed_out';
  const grpc = error instanceof ServiceError ? error.cause : error;
  if (isGrpcServiceError(grpc)) {
    return GRPC_TIMEOUTS.includes(grpc.code) ? 'timed_out' : 'unavailable';
  }
  if (error instanceof ServiceError) return 'unavailable';
  const code = codeOf(error);
  if (DATABASE_SLOW.has(code)) return 'timed_out';
  return DATABASE_GONE.has(code) || code.startsWith('08') ? 'unavailable' : null;
}

/** The code of a system error or SQLSTATE; empty: it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Waits until a deadline, in epoch milliseconds; the work is not cancelled, so it must be harmless afterwards. @throws DeadlineError */
export async function within<T>(until: number, work: Promise<T>): Promise<T> {
  return await withTimeout(work, until - Date.now(), () => {
    throw new DeadlineError('no answer in time');
  });
}
