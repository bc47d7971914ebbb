import { invalidArgument } from './problems.ts';

/**
 * Reads a number in one of the formats of the API.
 * @param option the argument's name as typed
 * @returns the number in E.164
 * @throws AdminError invalid_argument
 */
export async function readNumber(option: string, input: string): Promise<string> {
  // The tables of phone numbers are the slowest import of all; only commands about numbers need them.
  const { parseMsisdn } = await import('../../domain/msisdn.ts');
  const number = parseMsisdn(input);
  if (number === null) throw invalidArgument(option, 'a number such as +48600100200 or 600100200 is needed');
  return number;
}
