import { z } from 'zod';
import { documented } from '../api/documented.ts';
import { plainText } from '../api/fields.ts';
import { endpoint } from '../api/http/endpoint.ts';
import { splitIntoParts } from '../domain/parts.ts';

const TEXT_MAX = 10_000;

/** What `count_sms_parts` asks; the REST interface has no such path, its estimate says the same of real recipients. */
export const countParts = endpoint({
  method: 'POST',
  path: '/mcp',
  scope: 'read',
  readOnly: true,
  id: 'countSmsParts',
  summary: 'Counts the parts of a text.',
  description: 'Counts the parts of a text as it would be sent and billed.',
  body: z.strictObject({
    text: documented(
      plainText.min(1).max(TEXT_MAX),
      'The text as the recipient would get it.',
      'Dzień dobry!',
    ),
  }),
  responses: {
    200: z.strictObject({
      parts: documented(z.int().positive(), 'Parts that are sent and billed.', 1),
      encoding: documented(
        z.enum(['gsm7', 'ucs2']),
        '`gsm7`, or `ucs2` where the text has other characters: then fewer fit into a part.',
        'ucs2',
      ),
      characters: documented(z.int().positive(), 'Characters of the text.', 12),
    }),
  },
  handle({ body: { text } }) {
    const { parts, encoding } = splitIntoParts(text);
    const body = { parts: parts.length, encoding, characters: [...text].length };
    return Promise.resolve({ status: 200 as const, body });
  },
});
