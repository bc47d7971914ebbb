import { createHash } from 'node:crypto';
import { createRunning } from '../../concurrency/running.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { waitFor } from '../../concurrency/waitFor.ts';
import { NO_SESSION } from '../../domain/submission.ts';
import type { EmailAnswer, EmailGate, SubmitEmail } from '../email.ts';
import { emailOnly } from '../emailOnly.ts';
import { createHealth, stateBy } from '../health.ts';
import type { Provider } from '../provider.ts';
import { mayBeTheEmail, OTHER_BODY, readAnswer, UNREADABLE } from './answers.ts';
import { emailBody } from './body.ts';
import { inWords, isQuota } from './errors.ts';
import { createProviderHttp } from './http.ts';
import { probe } from './profile.ts';
import type { ResendCredentials, ResendSettings } from './settings.ts';

/**
 * The provider knows an e-mail by its key for 24 hours (https://resend.com/docs/dashboard/emails/idempotency-keys); the last try has
 * to arrive within them.
 */
const SETTLES_FOR_MS = 24 * 3_600_000 - 600_000;
// Ten megabytes of files, by a line of 2 Mbit/s.
const WRITTEN_WITHIN_MS = 60_000;
// So long nothing is handed over to an account that has used up its quota: it does not say when there is one again.
const QUOTA_MS = 900_000;

export interface ResendOptions {
  /** The route's. */
  name: string;
  settings: ResendSettings;
  credentials: ResendCredentials;
  onError: (error: unknown) => void;
}

/**
 * The HTTP interface of Resend (https://resend.com/docs/api-reference). Events come as callbacks to the API's process, not here.
 * While the provider does not work, nothing is handed over to it and its one session counts as closed.
 */
export function createResendProvider({ name, settings, credentials, onError }: ResendOptions): Provider {
  const http = createProviderHttp(settings.url, credentials.apiKey);
  const limits = { writtenWithinMs: WRITTEN_WITHIN_MS, answeredWithinMs: settings.responseSeconds * 1000 };
  const places = createSemaphore({ places: settings.window });
  const open = createRunning();
  let quota: { name: string; until: number } | null = null;
  // Whether there is quota again, only an e-mail can find out.
  const health = createHealth((signal) =>
    quota !== null && quota.until > Date.now() ? Promise.resolve(quota.name) : probe(http, signal),
  );

  const send = async (email: SubmitEmail): Promise<EmailAnswer> => {
    const exchange = await http.send(
      { method: 'POST', path: '/emails', headers: { 'idempotency-key': email.id }, body: emailBody(email) },
      limits,
    );
    const answer = readAnswer(exchange);
    if (exchange.kind === 'unreadable') onError(exchange.error);
    if (codeIn(answer) === OTHER_BODY)
      onError(new Error(`${email.id}: taken by the provider with another body`));
    judge(answer, mayBeTheEmail(exchange, answer) ? email.id : null);
    return answer;
  };

  const judge = (answer: EmailAnswer, about: string | null): void => {
    const code = codeIn(answer);
    if (answer.kind === 'broken' && isQuota(answer.code)) {
      quota = { name: answer.code, until: Date.now() + QUOTA_MS };
      health.failed(answer.code, true);
    } else if (answer.kind === 'broken' || (answer.kind === 'unanswered' && code !== OTHER_BODY)) {
      health.failed(code ?? 'unknown', false, about);
    } else if (code !== UNREADABLE) {
      health.succeeded();
    }
  };

  const email: EmailGate = {
    settlesForMs: SETTLES_FOR_MS,
    keyScope: keyScopeOf(settings.url, credentials.apiKey),
    answersWithinMs: limits.writtenWithinMs + limits.answeredWithinMs,
    reportsSent: true,
    async submit(given, leave) {
      const leavePlace = await places.enter();
      try {
        if (!health.works()) return { kind: 'broken', code: NO_SESSION };
        if (!(await leave())) return { kind: 'withheld' };
        const sent = send(given);
        open.add(sent);
        return await sent;
      } finally {
        leavePlace();
      }
    },
  };

  return emailOnly(name, email, {
    start() {
      health.start();
      return Promise.resolve();
    },
    state: () => stateBy(health, { window: settings.window, inFlight: places.inside() }, inWords),
    async stop() {
      await health.stop();
      await waitFor(open.settled(), limits.answeredWithinMs, () => undefined);
      await http.close();
    },
  });
}

/** Another API key may be another team's, which knows nothing of our keys so far. */
function keyScopeOf(url: string, apiKey: string): string {
  return createHash('sha256').update(`${url}\n${apiKey}`).digest('base64url').slice(0, 16);
}

function codeIn(answer: EmailAnswer): string | undefined {
  return answer.kind === 'accepted' ? undefined : answer.code;
}
