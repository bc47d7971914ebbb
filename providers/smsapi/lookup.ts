import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from '../../concurrency/tasks.ts';
import { type LookupAnswer, NOTHING_FOUND } from '../../domain/submission.ts';
import { LOOKUP_TIMEOUT_MS } from '../provider.ts';
import type { LookupAnswers } from '../kind.ts';
import { type Exchange, isRecord, type ProviderHttp } from '../http.ts';
import { errorCodeOf, firstEntry } from './answers.ts';
import { findingOf, formRequest, isFinding } from './http.ts';
import { lookupForm } from './request.ts';
import type { SmsapiSettings } from './settings.ts';

const POLL_MS = 100;
// Part of the timeout that is left for our own answer.
const RESERVE_MS = 200;
const LOOKUP_ID = /^[\x21-\x7e]{1,64}$/;
const INVALID_NUMBER = new Set([13, 33]);

interface LookUpOptions {
  http: ProviderHttp;
  route: string;
  answers: LookupAnswers;
  settings: Pick<SmsapiSettings, 'lookups'>;
  onError: (error: unknown) => void;
}

/**
 * Looks up a number in E.164 with plus (https://www.smsapi.pl/docs/#11-hlr). After `/hlr.do` the result comes by a callback; `/hlrsync.do`
 * (from the provider's Java and C# clients, undocumented) answers with it.
 */
export async function lookUp(options: LookUpOptions, msisdn: string): Promise<LookupAnswer> {
  const deadline = Date.now() + LOOKUP_TIMEOUT_MS - RESERVE_MS;
  const path = options.settings.lookups === 'sync' ? '/hlrsync.do' : '/hlr.do';
  const left = deadline - Date.now();
  const limits = { writtenWithinMs: left, answeredWithinMs: left };
  const asking = options.http.send(formRequest(path, lookupForm(msisdn)), limits);
  const exchange = await withTimeout(asking, left, (): Exchange => ({ kind: 'lost', code: 'timed_out' }));
  const asked = readLookupAnswer(exchange);
  if (asked.kind !== 'waiting') return asked;
  try {
    return await awaitCallback(options, asked.id, deadline);
  } catch (error) {
    options.onError(error);
    return { kind: 'failed' };
  }
}

/** Reads the answer to a look-up request: the result, a failure, or the id to wait for. */
export function readLookupAnswer(exchange: Exchange): LookupAnswer | { kind: 'waiting'; id: string } {
  if (exchange.kind !== 'answered') return { kind: exchange.code === 'timed_out' ? 'timed_out' : 'failed' };
  const entry = firstEntry(exchange.json) ?? exchange.json;
  const error = errorCodeOf(entry);
  if (error !== null) {
    return INVALID_NUMBER.has(error)
      ? { kind: 'found', status: 'invalid', ...NOTHING_FOUND }
      : { kind: 'failed' };
  }
  if (exchange.status < 200 || exchange.status > 299 || !isRecord(entry)) return { kind: 'failed' };
  const fields = asTexts(entry);
  if (isFinding(fields)) return { kind: 'found', ...findingOf(fields) };
  const id = fields['id'];
  return id !== undefined && LOOKUP_ID.test(id) ? { kind: 'waiting', id } : { kind: 'failed' };
}

async function awaitCallback(
  { answers, route }: LookUpOptions,
  id: string,
  deadline: number,
): Promise<LookupAnswer> {
  for (;;) {
    const answer = await answers.find(route, id);
    if (answer !== null) return answer;
    if (Date.now() + POLL_MS > deadline) return { kind: 'timed_out' };
    await delay(POLL_MS);
  }
}

function asTexts(entry: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(entry).filter(
    ([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
  );
  return Object.fromEntries(texts.map(([name, value]) => [name, String(value)]));
}
