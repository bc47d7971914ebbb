import { onTestFinished } from 'vitest';
import type { EmailAnswer, SubmitAttachment, SubmitEmail } from '../../providers/email.ts';
import type { Provider, NotSubmitted } from '../../providers/provider.ts';
import { createResendProvider } from '../../providers/resend/provider.ts';
import { resendSettings } from '../../providers/resend/settings.ts';
import { type ResendServer, startResend } from './resendServer.ts';
import { until } from './until.ts';

const DOMAIN = 'sklep.example';

/** A client at a provider that has verified one domain; both end with the test. */
interface OpenedResend {
  resend: ResendServer;
  client: Provider;
  errors: unknown[];
  /** Hands an e-mail over that may leave. */
  submit: (email: SubmitEmail) => Promise<EmailAnswer | NotSubmitted>;
}

/** Starts a provider that ends with the test. */
export async function openResend(): Promise<ResendServer> {
  const resend = await startResend();
  onTestFinished(() => resend.close());
  resend.domains.push({
    ...{ id: 'd91cd9bd-1176-453e-8fc1-35364d380206', name: DOMAIN, status: 'verified', region: 'eu-west-1' },
    ...{ created_at: '2026-11-01 10:00:00.123456+00', records: [] },
  });
  return resend;
}

/** Opens a client that works, unless it is not to be waited for. */
export async function openClient(
  settings: Record<string, unknown> = {},
  { waits = true, apiKey }: { waits?: boolean; apiKey?: string } = {},
): Promise<OpenedResend> {
  const resend = await openResend();
  const errors: unknown[] = [];
  const client = createResendProvider({
    name: 'resend',
    settings: resendSettings.parse({ url: resend.url, responseSeconds: 60, ...settings }),
    credentials: { apiKey: apiKey ?? resend.apiKey },
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => client.stop());
  const nothing = () => Promise.resolve();
  await client.start({
    ...{ onReports: nothing, onReplies: nothing, onReplyPart: nothing },
    ...{ onEmailEvents: nothing, onLateAnswer: nothing },
  });
  if (waits) await working(client);
  return { resend, client, errors, submit: (email) => client.email!.submit(email, leaves) };
}

/** Waits until a client works. */
export async function working(client: Provider): Promise<void> {
  await until(() => client.state().takesSubmits);
}

export const leaves = () => Promise.resolve(true);

let counter = 0;

/** An e-mail that no other has the id of. */
export function email(over: Partial<SubmitEmail> = {}): SubmitEmail {
  counter += 1;
  return {
    id: `em_01kaj${String(counter).padStart(21, '0')}`,
    accountId: 'cl_sklep',
    from: { address: `kontakt@${DOMAIN}`, name: 'Sklep' },
    replyTo: null,
    to: ['jan@poczta.example'],
    cc: [],
    bcc: [],
    subject: 'Potwierdzenie zamówienia',
    html: '<p>Dziękujemy</p>',
    text: null,
    headers: [],
    listUnsubscribe: null,
    attachments: [],
    domain: { name: DOMAIN, selector: 's1', privateKey: 'unused' },
    createdAt: new Date('2026-11-24T12:00:00Z'),
    ...over,
  };
}

/** A file that is read in pieces of this length. */
export function file(
  content: Buffer,
  piece = 192_000,
  over: Partial<SubmitAttachment> = {},
): SubmitAttachment {
  return {
    ...{ filename: 'faktura.pdf', contentType: 'application/pdf', contentId: null, bytes: content.length },
    async *content() {
      for (let at = 0; at < content.length; at += piece) {
        await Promise.resolve();
        yield content.subarray(at, at + piece);
      }
    },
    ...over,
  };
}
