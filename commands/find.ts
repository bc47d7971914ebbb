import type { Database } from '../db/connection.ts';
import { SOUGHT_MAX } from '../domain/search.ts';
import { type FoundThing, search } from '../operations/support/search.ts';
import { command, required, shown } from './command.ts';
import { onlyAccount, text } from './values.ts';

const pasted = text.max(SOUGHT_MAX, `at most ${SOUGHT_MAX} characters`);

export interface FindResult {
  /** Kinds of which there are more. */
  onlyNewestOf?: string[];
  /** Places that were given up. */
  tooSlow?: string[];
  data: FoundThing[];
}

export const findCommands = [
  command({
    name: 'find',
    about:
      'Finds what a customer quotes: an id, number, address, name or reference; or the ids in a URL or a log line.',
    options: { text: required('<TEXT>', 'what is sought, in any form', pasted), account: onlyAccount },
    // Not in one transaction: what takes too long is given up by itself.
    outside: true,
    async run(sql: Database, { text, account = null }) {
      const { things, cutOff, tooSlow, soughtAs } = await search(sql, text, account);
      const result: FindResult = {
        ...(cutOff.length === 0 ? {} : { onlyNewestOf: cutOff }),
        ...(tooSlow.length === 0 ? {} : { tooSlow }),
        data: things,
      };
      return { ...shown(result), details: { soughtAs } };
    },
  }),
];
