import { setTimeout as delay } from 'node:timers/promises';
import { DomainProblem, type Turn } from '../email.ts';
import { waitOf } from './answers.ts';
import { codeOf, errorOf, inWords } from './errors.ts';
import { createProviderHttp, type ProviderRequest } from './http.ts';
import type { ResendCredentials, ResendSettings } from './settings.ts';

const LIMITS = { writtenWithinMs: 10_000, answeredWithinMs: 10_000 };
// E-mails share the account's rate: a question that comes too many is asked again.
const ASKED_AT_MOST = 4;
const LONGEST_WAIT_MS = 3_000;
const WORDS_MAX = 150;

/** What the provider answered a question about one of its lists. */
export interface Answered {
  status: number;
  json: unknown;
}

/** Asks the provider. @throws DomainProblem where there is no answer */
export type Ask = (request: ProviderRequest) => Promise<Answered>;

/**
 * Does some work with questions to the provider, over connections that end with it.
 * @param turn waited for before each request; none unless given
 * @throws DomainProblem
 */
export async function asking<T>(
  { url }: ResendSettings,
  { apiKey }: ResendCredentials,
  work: (ask: Ask) => Promise<T>,
  turn: Turn = () => Promise.resolve(),
): Promise<T> {
  const http = createProviderHttp(url, apiKey);
  try {
    return await work(async (request) => {
      for (let asked = 1; ; asked += 1) {
        await turn();
        const exchange = await http.send(request, LIMITS);
        if (exchange.kind === 'unreadable') throw new DomainProblem('not asked');
        if (exchange.kind !== 'answered') throw new DomainProblem(`no answer: ${exchange.code}`);
        if (exchange.status !== 429 || asked === ASKED_AT_MOST) return exchange;
        await delay(Math.min(waitOf(exchange.headers) ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS));
      }
    });
  } finally {
    await http.close();
  }
}

export const isDone = ({ status }: Answered): boolean => status >= 200 && status <= 299;

/** What the provider said instead of yes, in its words. */
export function problemOf({ status, json }: Answered): DomainProblem {
  const said = errorOf(json)?.message.replace(/\p{C}/gu, ' ').slice(0, WORDS_MAX) ?? '';
  const code = inWords(codeOf(status, json));
  return new DomainProblem(said === '' ? code : `${code}: ${said}`);
}
