import type { z } from 'zod';
import type { CsvAnswer, Endpoint, Responses } from '../api/http/endpoint.ts';
import { inEnglish } from '../api/http/english.ts';
import { invoke } from '../api/http/invoke.ts';
import { errorAnswer, isFault, type Problem } from '../api/http/refusals.ts';
import { problemText } from '../api/http/texts.ts';
import { refuseInactive } from '../operations/accounts/accounts.ts';
import type { IdempotencyKey } from '../operations/sending/idempotency.ts';
import { outageOf } from '../operations/outages.ts';
import { staffServices } from '../operations/staff.ts';
import type { Language } from './language.ts';
import type { MemberVisit } from './route.ts';

interface Asked {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  idempotencyKeys?: readonly IdempotencyKey[];
}

/** What an endpoint answers when it succeeds. */
export type AnswerOf<R extends Responses> = z.output<R[keyof R & number]>;

/**
 * Asks an endpoint of the API for the person: what it checks, refuses and answers is the same as for a key with the scopes of the role. A
 * suspended or closed account is only read.
 * @throws Refused, HttpRefused, and any error of the handler
 */
export async function ask<R extends Responses>(
  visit: MemberVisit,
  endpoint: Endpoint<R>,
  asked: Asked = {},
): Promise<AnswerOf<R>> {
  const answer = await call(visit, endpoint, asked, false);
  if ('csv' in answer) throw new Error('a page shows no table of an endpoint');
  return answer.body as AnswerOf<R>;
}

/** Asks an endpoint for its answer as CSV, which a page offers as a file. @throws as `ask` */
export async function askForCsv(
  visit: MemberVisit,
  endpoint: Endpoint,
  asked: Asked = {},
): Promise<CsvAnswer> {
  visit.acquireHeavySlot();
  const answer = await call(visit, endpoint, asked, true);
  if (!('csv' in answer)) throw new Error('the endpoint answers no table');
  return answer;
}

async function call(visit: MemberVisit, endpoint: Endpoint, asked: Asked, csv: boolean) {
  const { services, caller, requestId, receivedAt } = visit;
  if (endpoint.method !== 'GET') requireActive(visit);
  const acquireHeavySlot = () => visit.acquireHeavySlot();
  if (endpoint.heavy === true) acquireHeavySlot();
  return await invoke(endpoint, services, caller, {
    ...{ csv, requestId, receivedAt, acquireHeavySlot, body: asked.body },
    params: asked.params ?? {},
    query: () => asked.query ?? {},
    idempotencyKeys: () => asked.idempotencyKeys ?? [],
  });
}

/** A suspended or closed account is only read. @throws Refused */
export function requireActive({ account: { status } }: MemberVisit): void {
  refuseInactive(status);
}

/** The request of an operation that staff and people may ask for. */
export function asking<Input>({ services, caller }: MemberVisit, input: Input) {
  return { services: staffServices(services), actor: caller.actor, request: caller, input };
}

/** A problem as a sentence. */
export function sentenceOf(language: Language, problem: Problem): string {
  return language === 'pl' ? problemText(problem) : inEnglish(problem);
}

/** What is wrong with a form. */
export interface Fault {
  /** Its field, named as in the API; null: none in particular. */
  field: string | null;
  text: string;
}

/** What a form is told about a refusal. @throws what is thrown, unless the person can do something about it */
export function faultOf(language: Language, thrown: unknown): Fault {
  const { problem, param } = errorAnswer(thrown);
  if (isFault(problem)) throw thrown;
  return { field: param, text: sentenceOf(language, problem) };
}

/** What was asked for, or what a form is told about its refusal. @throws as `faultOf` */
export async function attempt<T>(
  language: Language,
  asked: Promise<T>,
): Promise<{ answer: T; fault: null } | { answer: null; fault: Fault }> {
  try {
    return { answer: await asked, fault: null };
  } catch (thrown) {
    return { answer: null, fault: faultOf(language, thrown) };
  }
}

/** What a page shows beside other things; null where it takes too long. */
export async function unlessSlow<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (outageOf(error) === 'timed_out') return null;
    throw error;
  }
}

/** Fields that were filled in, as a body or query of the API has them. */
export function filled(
  fields: ReadonlyMap<string, string> | URLSearchParams,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = fields.get(name) ?? '';
      return value.trim() === '' ? [] : [[name, value]];
    }),
  );
}
