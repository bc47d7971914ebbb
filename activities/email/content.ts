import type { Sql } from '../../db/connection.ts';
import { type SubmittableEmail, readPiece, signingKey, textOf } from '../../db/emails/handOver.ts';
import type { EmailAnswer, EmailProvider, SubmitEmail } from '../../providers/email.ts';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';

/**
 * The same at every attempt, without suppressed addresses; attachments are streamed. A removed domain has no DKIM key left, which only the
 * first attempt needs.
 * @throws DecryptionError when the domain's key or an encrypted text cannot be read
 */
export function submitEmailOf(
  sql: Sql,
  email: SubmittableEmail,
  secretsKey: Buffer,
  shortUrl: string,
): SubmitEmail {
  const { id, accountId, recipients, unsubscribeToken, domain, dkimSelector, dkimPrivateKey, domainId } =
    email;
  const to = (kind: 'to' | 'cc' | 'bcc'): string[] =>
    recipients.filter((one) => one.kind === kind && one.state !== 'suppressed').map(({ address }) => address);
  return {
    id,
    accountId,
    from: { address: email.fromAddress, name: email.fromName },
    replyTo: email.replyTo,
    to: to('to'),
    cc: to('cc'),
    bcc: to('bcc'),
    subject: email.subject,
    html: email.html,
    text: textOf(secretsKey, email),
    headers: email.headers,
    listUnsubscribe: unsubscribeToken === null ? null : `${shortUrl}/u/${unsubscribeToken}`,
    attachments: email.attachments.map(({ number, filename, contentType, contentId, bytes }) => ({
      filename,
      contentType,
      contentId,
      bytes,
      content: () => piecesOf(sql, id, number, bytes),
    })),
    domain:
      domainId === null || dkimSelector === null || dkimPrivateKey === null
        ? { name: domain, selector: null, privateKey: null }
        : {
            name: domain,
            selector: dkimSelector,
            privateKey: signingKey(secretsKey, domainId, dkimPrivateKey),
          },
    createdAt: email.createdAt,
  };
}

// Throws if the file is incomplete: the e-mail has ended and been erased meanwhile, and must not be sent cut short.
async function* piecesOf(sql: Sql, id: string, number: number, bytes: number): AsyncGenerator<Buffer> {
  let read = 0;
  for (let piece = 0; ; piece += 1) {
    const content = await readPiece(sql, id, number, piece);
    if (content === undefined) break;
    read += content.length;
    yield content;
  }
  if (read !== bytes) throw new Error(`${read} of ${bytes} octets of file ${number} of ${id} are there`);
}

/** Events that the answer implies: `sent` if the provider reports none itself, a bounce per refused address. Event ids never change. */
export function answerEvents(
  { id }: Pick<SubmittableEmail, 'id'>,
  {
    providerEmailId,
    refused = [],
  }: Pick<EmailAnswer & { kind: 'accepted' }, 'refused'> & { providerEmailId: string | null },
  { reportsSent }: Pick<EmailProvider, 'reportsSent'>,
): ProviderEmailEvent[] {
  const common = { emailId: id, providerEmailId, at: new Date() };
  const sent: ProviderEmailEvent[] = reportsSent
    ? []
    : [{ ...common, eventId: `${id}:sent`, kind: 'sent', permanent: null, addresses: [], payload: {} }];
  const bounces = refused.map(({ address, code, permanent }, index): ProviderEmailEvent => ({
    ...common,
    eventId: `${id}:refused:${index}`,
    kind: 'bounced',
    permanent,
    addresses: [address],
    payload: { code },
  }));
  return [...sent, ...bounces];
}
