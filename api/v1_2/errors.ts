import type { ErrorAnswer, Problem, Reason } from '../http/refusals.ts';
import { problemText } from '../http/texts.ts';

interface Details {
  field: string;
  positions?: readonly number[];
}

/** An error of the earlier interface (v1.2.0, Error). */
interface EarlierError {
  status: number;
  body: { error: { code: number; message: string; details: Details | null } };
  headers?: Record<string, string>;
}

const UNPROCESSABLE = 422;
const OUTAGE = 502;
const RETRY_SECONDS = '1';

/** Messages where the current interface's mention something that this one does not have. */
const MESSAGE_OVERRIDES: Readonly<Partial<Record<Reason, string>>> = {
  key_missing: 'Brak tokenu API. Podaj go w nagłówku „Authorization: Bearer <token>”.',
  key_invalid: 'Token API jest nieprawidłowy albo został unieważniony.',
  send_unresolved:
    'Nie wiadomo, czy wiadomość została przyjęta. Sprawdź historię albo ponów żądanie z tym samym „idx” lub „Idempotency-Key”.',
  idempotency_other_content: 'To „idx” albo „Idempotency-Key” miała już inna wysyłka z ostatnich 24 godzin.',
  idempotency_in_progress:
    'Żądanie z tym samym „idx” albo „Idempotency-Key” jest jeszcze w toku. Ponów je za chwilę.',
};

/** Statuses that do not follow from the current interface's. */
const STATUS_OVERRIDES: Readonly<Partial<Record<Reason, number>>> = {
  // Malformed HTTP, not a malformed field.
  request_malformed: 400,
  host_missing: 400,
  idempotency_other_content: UNPROCESSABLE,
  // This interface has no 409; the first request is in progress, and this one may be retried.
  idempotency_in_progress: 429,
};

/** Maps an error to the earlier interface (v1.2.0, Errors): 422 for an invalid request, `outageStatus` for outages with a known outcome. */
export function earlierError({ status, problem, param }: ErrorAnswer, outageStatus = OUTAGE): EarlierError {
  const code = earlierStatusOf(problem.reason, status, outageStatus);
  const retry = problem.reason === 'idempotency_in_progress' ? { 'Retry-After': RETRY_SECONDS } : {};
  return {
    status: code,
    body: { error: { code, message: earlierText(problem), details: detailsOf(problem, param) } },
    headers: retry,
  };
}

/** The Polish message of an error. */
export function earlierText(problem: Problem): string {
  return MESSAGE_OVERRIDES[problem.reason] ?? problemText(problem);
}

function earlierStatusOf(reason: Reason, status: number, outageStatus: number): number {
  const own = STATUS_OVERRIDES[reason];
  if (own !== undefined) return own;
  if (status === 400) return UNPROCESSABLE;
  if (!isOutage(status)) return status;
  // Clients retry after 503, so it must be certain that nothing was done.
  return reason === 'send_unresolved' ? OUTAGE : outageStatus;
}

function isOutage(status: number): boolean {
  return status === 502 || status === 504;
}

function detailsOf(problem: Problem, param: string | null): Details | null {
  if (param === null) return null;
  // The full path of an element: `messages.2.to`.
  const inside = 'field' in problem && problem.field.startsWith(`${param}.`);
  return {
    field: inside ? problem.field : param,
    ...('positions' in problem ? { positions: problem.positions } : {}),
  };
}
