import type { ErrorAnswer, Problem, Reason } from '../http/refusals.ts';
import { problemText } from '../http/texts.ts';

/** The field that is to blame, and the places in a list where there are several. */
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

/** Where the current interface's sentence speaks of what this one does not have. */
const OWN_TEXTS: Readonly<Partial<Record<Reason, string>>> = {
  key_missing: 'Brak tokenu API. Podaj go w nagłówku „Authorization: Bearer <token>”.',
  key_invalid: 'Token API jest nieprawidłowy albo został unieważniony.',
  send_unresolved:
    'Nie wiadomo, czy wiadomość została przyjęta. Sprawdź historię albo ponów żądanie z tym samym „idx”.',
  idempotency_other_content: 'To „idx” miała już inna wiadomość z ostatnich 24 godzin.',
  idempotency_in_progress: 'Żądanie z tym samym „idx” jest jeszcze w toku. Ponów je za chwilę.',
};

/** Reasons whose status is another one than their kind has in the current interface, or than what becomes of that. */
const STATUSES: Readonly<Partial<Record<Reason, number>>> = {
  // Not of a field of the request: of its form as HTTP.
  request_malformed: 400,
  host_missing: 400,
  idempotency_other_content: UNPROCESSABLE,
  // As that interface has no 409: what is asked is being done, and may be asked again.
  idempotency_in_progress: 429,
};

/**
 * How an error is answered in the earlier interface (v1.2.0, Errors). That document has one status for what the current one divides into 400 and
 * 422, and 502 or 503 for what stands behind the service; statuses of HTTP itself (404, 405, 413, 415 …) are the same.
 *
 * @param outageStatus as which an outage is answered, unless nobody knows what was done
 */
export function earlierError({ status, problem, param }: ErrorAnswer, outageStatus = OUTAGE): EarlierError {
  const code = earlierStatusOf(problem.reason, status, outageStatus);
  const retry = problem.reason === 'idempotency_in_progress' ? { 'Retry-After': RETRY_SECONDS } : {};
  return {
    status: code,
    body: {
      error: {
        code,
        message: earlierText(problem),
        details: detailsOf(problem, param),
      },
    },
    headers: retry,
  };
}

/** The Polish sentence of an error. */
export function earlierText(problem: Problem): string {
  return OWN_TEXTS[problem.reason] ?? problemText(problem);
}

/** @param status in the current interface */
function earlierStatusOf(reason: Reason, status: number, outageStatus: number): number {
  const own = STATUSES[reason];
  if (own !== undefined) return own;
  if (status === 400) return UNPROCESSABLE;
  if (!isOutage(status)) return status;
  // Who reads 503 asks again: that is for what was certainly not done.
  return reason === 'send_unresolved' ? OUTAGE : outageStatus;
}

function isOutage(status: number): boolean {
  return status === 502 || status === 504;
}

function detailsOf(problem: Problem, param: string | null): Details | null {
  if (param === null) return null;
  // Of an element the whole path: `messages.2.to`.
  const inside = 'field' in problem && problem.field.startsWith(`${param}.`);
  return {
    field: inside ? problem.field : param,
    ...('positions' in problem ? { positions: problem.positions } : {}),
  };
}
