import { DomainProblem, type Turn } from '../email.ts';
import { asking, isDone } from './asking.ts';
import { codeOf, inWords } from './errors.ts';
import type { ResendCredentials, ResendSettings } from './settings.ts';

/**
 * Takes an address off the list of those that the provider sends nothing to
 * (https://resend.com/docs/api-reference/suppressions/remove-suppression). One that is not on it is no problem.
 * @param turn waited for before each request
 * @returns what came in the way, in words for staff and without the address; null: nothing did
 */
export async function removeSuppression(
  settings: ResendSettings,
  credentials: ResendCredentials,
  address: string,
  turn: Turn,
): Promise<string | null> {
  const path = `/suppressions/${encodeURIComponent(address)}`;
  try {
    const removed = await asking(settings, credentials, (ask) => ask({ method: 'DELETE', path }), turn);
    if (isDone(removed) || removed.status === 404) return null;
    return inWords(codeOf(removed.status, removed.json));
  } catch (error) {
    if (error instanceof DomainProblem) return error.message;
    throw error;
  }
}
