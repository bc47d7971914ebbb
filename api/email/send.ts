import { z } from 'zod';
import type { EmailAttachment } from '../../db/emails/accept.ts';
import {
  ATTACHMENTS_BYTES_MAX,
  BODY_MAX,
  EMAIL_IDX_MAX,
  RECIPIENTS_MAX,
  SUBJECT_MAX,
} from '../../domain/email/address.ts';
import { contentTypeOf } from '../../domain/email/content.ts';
import type { Interface } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import { isBlank } from '../../domain/text.ts';
import { sendEmail as send } from '../../operations/email/send.ts';
import {
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  filledLine,
  identifier,
  issue,
  omissible,
  omissibleWithDefault,
  plainText,
  timestamp,
} from '../fields.ts';
import { endpoint, replayHeader } from '../http/endpoint.ts';
import { successSchema, successResponse } from '../v1_2/fields.ts';
import { address, attachments, displayName, headers } from './fields.ts';

const MEGABYTE = 1024 * 1024;
// A code point takes up to two UTF-16 units.
const BODY_UNITS_MAX = 2 * BODY_MAX;
// Both bodies with every letter escaped, as PHP does, and the other fields; parsing takes some 20 ms.
const PARSED_BYTES = 6 * BODY_MAX * 2 + MEGABYTE / 2;
// The files in base64, with slashes and line ends escaped.
const BODY_LIMIT = Math.ceil((ATTACHMENTS_BYTES_MAX * 4) / 3) + PARSED_BYTES + MEGABYTE;

const addresses = (kind: keyof typeof RECIPIENTS_MAX) => z.array(address).max(RECIPIENTS_MAX[kind]);

const body = z
  .strictObject({
    to: documented(
      z.union([address.transform((one) => [one]), addresses('to').min(1)]),
      'Whom it goes to: one address, or up to 50; no address twice.',
      'jan@sklep.example',
    ),
    cc: documented(omissibleWithDefault(addresses('cc'), []), 'Who gets a copy, and is seen: up to 20.', []),
    bcc: documented(omissibleWithDefault(addresses('bcc'), []), 'Who gets a copy unseen: up to 20.', []),
    subject: documented(filledLine.max(SUBJECT_MAX), 'The subject.', 'Potwierdzenie zamówienia 1042'),
    html: documented(
      omissible(plainText.max(BODY_MAX)),
      'The content in HTML; one of `html` and `text` is needed. Empty is as left out.',
      '<p>Dziękujemy!</p>',
    ),
    text: documented(
      omissible(plainText.max(BODY_MAX)),
      'The content as plain text. Empty is as left out.',
      'Dziękujemy!',
    ),
    from: documented(
      omissible(address),
      "The sender's address, at a verified domain of the account; `noreply` at its default domain when left out.",
      'zamowienia@sklep.example',
    ),
    from_name: documented(omissible(displayName), "The sender's name.", 'Sklep Przykład'),
    reply_to: documented(omissible(address), 'Where answers go.', 'biuro@sklep.example'),
    idx: documented(
      omissible(identifier.min(1).max(EMAIL_IDX_MAX)),
      'Your own identifier. The same e-mail with it again within 24 hours is not sent again; another one is refused.',
      'zam-1042',
    ),
    headers: documented(
      omissibleWithDefault(headers, [], {}),
      'Headers beside the usual ones, of those listed.',
      { 'X-Entity-Ref-ID': 'zam-1042' },
    ),
    attachments: documented(
      omissibleWithDefault(attachments, []),
      'Files: up to 20, together 10 MB; of usual documents and pictures.',
      [],
    ),
    list_unsubscribe: documented(
      omissibleWithDefault(z.boolean(), false),
      'Offers one-click unsubscribing (RFC 8058); whoever uses it gets no more e-mail of the account. Of an e-mail to one address alone.',
      false,
    ),
  })
  .superRefine(({ html, text }, context) => {
    if (isBlank(html ?? '') && isBlank(text ?? ''))
      context.addIssue({ code: 'custom', path: ['html'], ...issue({ reason: 'email_content_missing' }) });
  });

const sent = successSchema(
  z.strictObject({
    id: documented(z.string(), 'The id of the e-mail.', exampleId('em')),
    to: documented(z.string(), 'Whom it goes to; of several all, with commas between.', 'jan@sklep.example'),
    status: documented(
      z.string(),
      '`queued`; `suppressed` where every address is on the suppression list.',
      'queued',
    ),
    cost: documented(z.number().nonnegative(), 'What it costs, in points: one is a grosz.', 1),
    sent_at: documented(timestamp, 'When it was accepted.', EXAMPLE_INSTANT),
  }),
);

/** POST /v1/email (v1.2.0), for keys of the interface `owner`. */
export function sendEmail(owner: Interface) {
  return endpoint({
    interface: owner,
    method: 'POST',
    path: '/v1/email',
    scope: 'send',
    outageStatus: 503,
    idempotent: true,
    id: 'sendEmail',
    summary: 'Sends an e-mail.',
    description:
      'Sends one e-mail, 1 grosz for each address in `to`, `cc` and `bcc`. Addresses on the suppression list are left out, free. It leaves from a domain of the account that is verified.',
    errors: owner === 'v1' ? [402, 502] : [402, 409, 422, 503],
    body,
    example: { to: 'jan@sklep.example', subject: 'Potwierdzenie zamówienia 1042', text: 'Dziękujemy!' },
    bodyLimit: BODY_LIMIT,
    bodyShape: { textMax: BODY_UNITS_MAX, parsedBytes: PARSED_BYTES, files: 'attachments' },
    responses: { 200: sent },
    async handle(call) {
      const { html, text, from = null, from_name: fromName = null, ...rest } = call.body;
      const input = {
        interface: owner,
        html: contentOf(html),
        text: contentOf(text),
        from,
        fromName,
        to: rest.to,
        cc: rest.cc,
        bcc: rest.bcc,
        subject: rest.subject,
        headers: rest.headers,
        replyTo: rest.reply_to ?? null,
        idx: rest.idx ?? null,
        attachments: await decodedAttachments(rest.attachments),
        listUnsubscribe: rest.list_unsubscribe,
      };
      const { body, replayed } = await send({ ...call, input });
      return { ...successResponse(body), ...replayHeader(replayed) };
    },
  });
}

/** Blank means none: mail clients would show an empty HTML part instead of the text. */
const contentOf = (given: string | undefined): string | null =>
  given === undefined || isBlank(given) ? null : given;

async function decodedAttachments(given: z.output<typeof attachments>): Promise<EmailAttachment[]> {
  const files: EmailAttachment[] = [];
  let bytes = 0;
  for (const [index, { content, ...file }] of given.entries()) {
    const decoded = await content.decode();
    if (decoded === null) throw new Refused({ reason: 'attachment_not_base64', index }, 'attachments');
    bytes += decoded.bytes;
    if (bytes > ATTACHMENTS_BYTES_MAX)
      throw new Refused(
        { reason: 'attachments_too_large', limitBytes: ATTACHMENTS_BYTES_MAX },
        'attachments',
      );
    const contentType = contentTypeOf(file.contentType, Buffer.concat(decoded.pieces));
    files.push({ ...file, contentType, ...decoded });
  }
  return files;
}
