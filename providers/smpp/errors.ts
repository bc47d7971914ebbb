import type { SubmitAnswer } from '../../domain/submission.ts';
import type { SmppSettings } from './settings.ts';
import { STATUS_MEANING, type StatusMeaning } from './statuses.ts';

const UNKNOWN: StatusMeaning = { kind: 'unknown' };
const DEFAULT_SECONDS = { throttled: 1, later: 30 } as const;

/**
 * What a command_status other than 0 in the answer to a submit comes to: by the route's own table, else by the
 * standard. A code that neither knows leaves the submit `unanswered`: it may mean that the message was taken.
 */
export function answerOfStatus(
  status: number,
  settings: Pick<SmppSettings, 'errors'>,
): Exclude<SubmitAnswer, { kind: 'accepted' }> {
  const code = statusCode(status);
  const meaning = configured(status, settings.errors) ?? STATUS_MEANING.get(status) ?? UNKNOWN;
  switch (meaning.kind) {
    case 'throttled':
    case 'later':
      return { kind: meaning.kind, retryAfterMs: meaning.seconds * 1000, code };
    case 'refused':
      return { kind: 'refused', reason: meaning.reason, code };
    case 'broken':
      return { kind: 'broken', code };
    case 'unknown':
      return { kind: 'unanswered', code };
  }
}

/** A command_status as staff look it up: `0x0000000b`. */
export function statusCode(status: number): string {
  return `0x${(status >>> 0).toString(16).padStart(8, '0')}`;
}

function configured(status: number, errors: SmppSettings['errors']): StatusMeaning | null {
  const said = Object.entries(errors).find(([code]) => Number(code) === status)?.[1];
  if (said === undefined) return null;
  const [kind, seconds] = said.split(':');
  if (kind === 'throttled' || kind === 'later') {
    return { kind, seconds: seconds === undefined ? DEFAULT_SECONDS[kind] : Number(seconds) };
  }
  if (kind === 'refused') {
    const usual = STATUS_MEANING.get(status);
    return usual?.kind === 'refused' ? usual : { kind, reason: 'network_refused' };
  }
  return kind === 'broken' ? { kind } : UNKNOWN;
}
