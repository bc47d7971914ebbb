import type { LookupAnswers, ProviderOptions } from '../kind.ts';
import { createTaskTracker, withTimeout } from '../../concurrency/tasks.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { optionsOf } from '../../domain/sms.ts';
import { NO_SESSION, type SubmitAnswer, type SubmitPart } from '../../domain/submission.ts';
import type { Provider, ProviderHandlers } from '../provider.ts';
import { callbackAddress } from '../callbacks.ts';
import { createHealth, createLateAnswers, type Health, stateBy } from '../health.ts';
import { ALREADY_TAKEN, describeCode, type ReadAnswer, readAnswer } from './answers.ts';
import { formRequest, probe, smsapiHttp } from './http.ts';
import { lookUp } from './lookup.ts';
import { SUBMIT_PATHS, submitForm, hasPlaceholder } from './request.ts';
import { type SmsapiSettings, type SmsapiCredentials, CALLBACK_PATHS } from './settings.ts';

const LATEST_ANSWER_MS = 60_000;
const TIMED_OUT = 'timed_out';
// A request that is not written within this share of the response timeout is aborted.
const WRITTEN_SHARE = 0.8;

interface SmsapiOptions extends ProviderOptions<SmsapiSettings, SmsapiCredentials> {
  lookups: LookupAnswers;
}

/**
 * SMSAPI.pl's HTTP API. Reports and replies come as callbacks to the API process, except a final state in the answer to a submit. While the
 * provider fails, its one session counts as closed.
 */
export function createSmsapiProvider(options: SmsapiOptions): Provider {
  const { name, settings, credentials, lookups: answers, onError } = options;
  const http = smsapiHttp(settings, credentials);
  const health = createHealth((signal, lastError) => probe(http, signal, lastError));
  const places = createSemaphore({ places: settings.window });
  // Submits that wait for an answer, even a late one.
  const open = createTaskTracker();
  const lateAnswers = createLateAnswers(onError);
  const { callbackUrl } = settings;
  const notifyUrl =
    callbackUrl === undefined
      ? null
      : callbackAddress(callbackUrl, name, CALLBACK_PATHS.reports, credentials.callbackSecret);
  const answerMs = settings.responseSeconds * 1000;
  const limits = { writtenWithinMs: WRITTEN_SHARE * answerMs, answeredWithinMs: LATEST_ANSWER_MS };
  let handlers: ProviderHandlers | null = null;

  const send = async (part: SubmitPart): Promise<SubmitAnswer> => {
    const form = submitForm(part, settings, notifyUrl, Date.now());
    const exchange = await http.send(formRequest(SUBMIT_PATHS[part.channel], form), limits);
    const read = readAnswer(exchange, part.channel, settings.errors);
    reportDifference(part, read, onError);
    if (read.answer.kind === 'accepted' && read.ended !== null) {
      const { providerMessageId } = read.answer;
      const report = { providerMessageId, reference: part.reference, state: read.ended, errorCode: null };
      await handlers?.onReports([report]).catch(onError);
    }
    return read.answer;
  };

  // The answer, if it comes in time; a late one is stored.
  const awaitAnswer = async (reference: string, sent: Promise<SubmitAnswer>): Promise<SubmitAnswer> => {
    open.add(sent.catch(onError));
    const answer = await withTimeout(sent, answerMs, () => null);
    if (answer !== null) {
      recordHealth(health, answer);
      return answer;
    }
    health.failed(TIMED_OUT);
    const keepLate = (late: SubmitAnswer): void => {
      if (late.kind === 'unanswered') return;
      if (late.kind !== 'broken') health.succeeded();
      lateAnswers.keep(reference, late);
    };
    open.add(sent.then(keepLate).catch(onError));
    return { kind: 'unanswered', code: TIMED_OUT };
  };

  return {
    name,
    takesWhole: true,
    async submit(part, beforeSubmit) {
      const releaseSlot = await places.enter();
      let sent: Promise<SubmitAnswer> | null = null;
      try {
        if (!health.works()) return { kind: 'broken', code: NO_SESSION };
        if (!(await beforeSubmit())) return { kind: 'withheld' };
        if (hasPlaceholder(part.text))
          return { kind: 'refused', reason: 'invalid_content', code: 'placeholder' };
        sent = send(part);
        return await awaitAnswer(part.reference, sent);
      } finally {
        // A submit keeps its slot until its answer comes: a provider that stopped answering must not get ever more requests.
        if (sent === null) releaseSlot();
        else void sent.then(releaseSlot, releaseSlot);
      }
    },
    lookup: (msisdn) => lookUp({ http, route: name, answers, settings, onError }, msisdn),
    start(given) {
      handlers = given;
      lateAnswers.start(given);
      health.start();
      return Promise.resolve();
    },
    state: () => stateBy(health, { window: settings.window, inFlight: places.inside() }, describeCode),
    async stop() {
      await health.stop();
      await withTimeout(open.settled(), answerMs, () => undefined);
      await http.close();
      await lateAnswers.stop();
    },
  };
}

// A provider that reports a message as already accepted understood the request, so it works.
function recordHealth(health: Health, answer: SubmitAnswer): void {
  const failed =
    answer.kind === 'broken' || (answer.kind === 'unanswered' && answer.code !== String(ALREADY_TAKEN));
  if (failed) health.failed(answer.code ?? 'unknown');
  else health.succeeded();
}

function reportDifference(part: SubmitPart, { parts }: ReadAnswer, onError: (error: unknown) => void): void {
  // The provider decides by itself which texts are sent as UCS-2.
  if (parts === null || parts === part.parts || optionsOf(part.content).ucs2) return;
  onError(new Error(`${part.reference}: cut into ${parts} parts by the provider, billed as ${part.parts}`));
}
