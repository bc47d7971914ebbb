import { DriverProblem } from '../../db/connection.ts';
import { ConfigError } from '../config.ts';
import { errorCode, errorText, StartProblem } from '../embedded/problem.ts';

// SQLSTATE classes and codes in the words of someone who runs a service.
const NO_SUCH_TABLE = '42P01';
const UNREACHABLE = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|CONNECT_TIMEOUT|CONNECTION_)/;
const REFUSED_BY_DATABASE = /^(08|28|3D|53|57P)/;

/** Turns what broke below a command into a code and one sentence; never shows an address with its password. */
export function describeFailure(error: unknown): { code: string; message: string } {
  const state = errorCode(error) ?? '';
  if (error instanceof ConfigError || error instanceof StartProblem || error instanceof DriverProblem)
    return unavailable(error.message);
  if (state === NO_SUCH_TABLE) return unavailable('The database has no schema yet; run npm run migrate.');
  if (UNREACHABLE.test(state)) return unavailable(`The database cannot be reached (${state}).`);
  if (REFUSED_BY_DATABASE.test(state))
    return unavailable(`The database refuses to serve: ${oneLine(error)}.`);
  return { code: 'internal_error', message: `Unexpected failure: ${oneLine(error)}.` };
}

function unavailable(message: string): { code: string; message: string } {
  return { code: 'unavailable', message };
}

function oneLine(error: unknown): string {
  return errorText(error).replace(/\s+/g, ' ').replace(/\.$/, '');
}
