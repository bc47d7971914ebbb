import { generateKeyPairSync } from 'node:crypto';
import type { EmailAnswer, SubmitAttachment, SubmitEmail } from '../../providers/email.ts';
import type { Provider, ProviderHandlers, NotSubmitted } from '../../providers/provider.ts';
import { createSmtpProvider } from '../../providers/smtp/provider.ts';
import { smtpCredentials, smtpSettings } from '../../providers/smtp/settings.ts';
import { newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';

export const RETURN_PATH_KEY = 'k'.repeat(43);
export const LOGIN = { user: 'goniec', password: 'tajne' };

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** What the test domains are signed with. */
export const DKIM = {
  privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  publicKey: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
};

/** An e-mail with as much as an e-mail needs. */
export function anEmail(fields: Partial<SubmitEmail> = {}): SubmitEmail {
  return {
    id: newId('em'),
    accountId: 'cl_sklep',
    from: { address: 'sklep@sklep.example', name: 'Sklep' },
    replyTo: null,
    to: ['jan@poczta.example'],
    cc: [],
    bcc: [],
    subject: 'Zamówienie',
    html: null,
    text: 'Dziękujemy.',
    headers: [],
    listUnsubscribe: null,
    attachments: [],
    domain: { name: 'sklep.example', selector: 'goniec1', privateKey: DKIM.privateKey },
    createdAt: new Date(Date.now() - 1_000),
    ...fields,
  };
}

/** A file that is made while it is read. */
export function aFile(
  filename: string,
  pieces: readonly Buffer[] | (() => AsyncIterable<Buffer>),
  fields: Partial<SubmitAttachment> = {},
): SubmitAttachment {
  const content = Array.isArray(pieces)
    ? async function* () {
        for (const piece of pieces as Buffer[]) yield await Promise.resolve(piece);
      }
    : (pieces as () => AsyncIterable<Buffer>);
  const bytes = Array.isArray(pieces) ? Buffer.concat(pieces as Buffer[]).length : 0;
  return { filename, contentType: 'application/octet-stream', contentId: null, bytes, content, ...fields };
}

/** A provider of a route, and how to end it. */
export interface OpenRoute {
  provider: Provider;
  errors: unknown[];
  send(email: SubmitEmail): Promise<EmailAnswer | NotSubmitted>;
}

/** @param settings of the route beside the address of this machine and our name */
export function openRoute(
  settings: Record<string, unknown>,
  login: Record<string, unknown> = LOGIN,
  handlers: Partial<ProviderHandlers> = {},
): OpenRoute {
  const errors: unknown[] = [];
  const provider = createSmtpProvider({
    name: 'relay',
    settings: smtpSettings.parse({ host: '127.0.0.1', mailHost: 'mail.goniec.example', ...settings }),
    credentials: smtpCredentials.parse({ returnPathKey: RETURN_PATH_KEY, ...login }),
    onError: (error) => errors.push(error),
  });
  const nobody = () => Promise.resolve();
  void provider.start({
    ...{ onReports: nobody, onReplies: nobody, onReplyPart: nobody, onLateAnswer: nobody },
    onEmailEvents: nobody,
    ...handlers,
  });
  return { provider, errors, send: (email) => provider.email!.submit(email, () => Promise.resolve(true)) };
}

/** Waits until the relay was found to work. */
export const working = ({ provider }: OpenRoute): Promise<unknown> =>
  eventually(() => Promise.resolve(provider.state().takesSubmits), Boolean);
