import { z } from 'zod';
import { ATTACHMENTS_MAX, emailAddress, FROM_NAME_MAX } from '../../domain/email/address.ts';
import {
  ALLOWED_HEADERS,
  allowedHeader,
  attachmentType,
  HEADER_VALUE_MAX,
  isContentId,
  isDisplayName,
  isHeaderValue,
} from '../../domain/email/content.ts';
import { documented, issue, lineText, omissible, plainText } from '../fields.ts';
import { EncodedFile } from '../http/body.ts';

const HEADERS_MAX = 20;
const ADDRESS = { format: 'email', example: 'jan@sklep.example' };

export const address = z
  .string()
  .transform((value, context) => {
    const read = emailAddress(value);
    if (read !== null) return read;
    context.addIssue({ code: 'custom', ...issue({ reason: 'address_malformed' }) });
    return z.NEVER;
  })
  .meta(ADDRESS);

export const displayName = lineText
  .min(1)
  .max(FROM_NAME_MAX)
  .refine(isDisplayName, issue({ reason: 'display_name_malformed' }));

export const headers = z
  .unknown()
  .superRefine((given, context) => {
    // z.record drops this key silently.
    if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__'))
      context.addIssue({ code: 'custom', ...issue({ reason: 'header_not_allowed', header: '__proto__' }) });
  })
  .pipe(z.record(z.string(), z.string().nullable()))
  .transform((given, context) => {
    const read = new Map<string, string>();
    for (const [name, value] of Object.entries(given)) {
      const header = allowedHeader(name);
      // null means left out.
      if (header !== null && value === null) continue;
      const reason =
        header === null || value === null
          ? 'header_not_allowed'
          : read.has(header)
            ? 'header_repeated'
            : isHeaderValue(value)
              ? null
              : 'header_malformed';
      if (reason !== null) {
        context.addIssue({ code: 'custom', ...issue({ reason, header: name }) });
        return z.NEVER;
      }
      read.set(header!, value!);
    }
    return [...read];
  })
  .meta({
    type: 'object',
    maxProperties: HEADERS_MAX,
    properties: Object.fromEntries(
      ALLOWED_HEADERS.map((name) => [
        name,
        {
          type: ['string', 'null'],
          maxLength: HEADER_VALUE_MAX,
          description: `The header \`${name}\`: ASCII, one line.`,
        },
      ]),
    ),
    additionalProperties: false,
  });

// `readBody` cuts file contents out before parsing: see `BodyShape`.
const encoded = z
  .unknown()
  .transform((value, context) => {
    if (value instanceof EncodedFile) return value;
    context.issues.push({ code: 'invalid_type', expected: 'string', input: value });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    contentEncoding: 'base64',
    description: 'The file, in base64.',
    example: 'JVBERi0xLjcK',
  });

const attachment = z
  .strictObject({
    filename: documented(
      plainText.min(1),
      'What the file is called; its ending says its type, and has to be one of the list.',
      'faktura.pdf',
    ),
    content: encoded,
    content_id: documented(
      omissible(plainText.refine(isContentId, issue({ reason: 'field_malformed' }))),
      'How the HTML refers to it (`cid:logo`): then it is shown and not attached.',
      'logo',
    ),
  })
  .meta({ description: 'A file.' });

export const attachments = z
  .array(attachment)
  .max(ATTACHMENTS_MAX)
  .transform((files, context) =>
    files.map(({ filename, content, content_id: contentId = null }, index) => {
      const contentType = attachmentType(filename);
      if (contentType === null)
        context.addIssue({
          code: 'custom',
          path: [index, 'filename'],
          ...issue({ reason: 'attachment_type', index }),
        });
      return { filename, contentType: contentType ?? '', contentId, content };
    }),
  );
