import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  acceptEmail,
  type EmailAttachment,
  emailSecretOwner,
  type EmailRecipient,
  type EmailTerms,
  isSuppressed,
  type NewEmail,
  readEmailTerms,
} from '../../db/emails/accept.ts';
import type { Interface } from '../../domain/ids.ts';
import { UNSUBSCRIBE_TOKEN_LENGTH } from '../../db/emails/suppressions.ts';
import { newId, randomToken } from '../../db/ids.ts';
import { encrypt } from '../../db/installation.ts';
import { InsufficientFundsError } from '../../db/money/reservations.ts';
import { addressKey, domainOf, EVENTS_FOR_MS, GROSZE_AN_ADDRESS } from '../../domain/email/address.ts';
import { quotasOf } from '../../domain/money.ts';
import { Refused } from '../../domain/refusals.ts';
import { emailTraffic, workingRoute } from '../../domain/routing.ts';
import { addIds } from '../../telemetry/ids.ts';
import { currentTraceparent } from '../../telemetry/tracing.ts';
import type { OperationContext, Caller, Services } from '../context.ts';
import { withinQuota } from '../quotas.ts';
import { ACCEPT_MS, acceptWithin, refuseBeyondBacklog } from '../sending/accept.ts';
import {
  claimsOf,
  type IdempotencyKey,
  type Keyed,
  keysOfIdx,
  type RequestContent,
  sendOnce,
  type Sent,
} from '../sending/idempotency.ts';

/** An e-mail to send (v1.2.0, POST /v1/email, and our additions); addresses as normalized by `emailAddress`. */
interface EmailInput {
  interface: Interface;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  html: string | null;
  text: string | null;
  /** The text holds secrets, by which somebody gets in: it is encrypted until a provider gets it, and who wants no other e-mail gets it. */
  secret?: boolean;
  /** Null: `noreply` at the account's default domain. */
  from: string | null;
  fromName: string | null;
  replyTo: string | null;
  idx: string | null;
  headers: readonly (readonly [name: string, value: string])[];
  attachments: readonly EmailAttachment[];
  listUnsubscribe: boolean;
}

const DEFAULT_LOCAL = 'noreply';
// The route of an e-mail whose recipients are all suppressed.
const NO_ROUTE = 'none';

export type EmailServices = Pick<Services, 'sql' | 'backlog' | 'routing' | 'secretsKey' | 'log'>;

interface EmailContext extends Omit<
  OperationContext<EmailInput>,
  'services' | 'caller' | 'acquireHeavySlot'
> {
  services: EmailServices;
  caller: Pick<Caller, 'accountId'>;
  /** Beside the `idx`. */
  idempotencyKeys?: readonly IdempotencyKey[];
}

/** Response of a send (v1.2.0, Email response). */
interface SentEmail {
  id: string;
  to: string;
  status: string;
  /** In points; one point is a grosz. */
  cost: number;
  sent_at: string;
}

/** Accepts and charges an e-mail. @returns `replayed` if it was already sent with the same key @throws Refused and nothing is kept */
export async function sendEmail(context: EmailContext): Promise<Sent<SentEmail>> {
  const { input, idempotencyKeys = [] } = context;
  const keys = [...idempotencyKeys, ...keysOfIdx('email', input.idx)];
  // Without a key nothing is compared, and files need no hash.
  if (keys.length === 0) return { body: await acceptNew(context, null), replayed: false };
  const keyed = { keys, content: await contentOf(context) };
  return await sendOnce(context, keyed, () => acceptNew(context, keyed));
}

async function acceptNew(context: EmailContext, keyed: Keyed | null): Promise<SentEmail> {
  const { services, input, receivedAt } = context;
  refuseRepeated(input);
  refuseUnclearUnsubscribing(input);
  await refuseBeyondBacklog(context);
  const { email, limits } = await planEmail(context);
  addIds({ emailId: email.id });
  const body = answerOf(input, email);
  const claims = keyed === null ? [] : await claimsOf(services, keyed, body);
  const accepting = acceptWithin(receivedAt + ACCEPT_MS, 'send', () =>
    acceptEmail(services.sql, email, claims, limits, currentTraceparent()),
  );
  try {
    await withinQuota({ unpaid_messages: 'to', email_file_bytes: 'attachments' }, accepting);
  } catch (error) {
    throw error instanceof InsufficientFundsError ? new Refused({ reason: 'insufficient_funds' }) : error;
  }
  return body;
}

function answerOf(
  { to }: EmailInput,
  { id, costGrosze, testCredits, recipients, createdAt }: NewEmail,
): SentEmail {
  return {
    id,
    to: to.join(', '),
    status: isSuppressed({ recipients }) ? 'suppressed' : 'queued',
    cost: testCredits > 0 ? 0 : costGrosze,
    sent_at: createdAt.toISOString(),
  };
}

async function contentOf({ services, caller, input }: EmailContext): Promise<RequestContent> {
  const files = [];
  for (const { pieces, ...file } of input.attachments) files.push({ ...file, sha256: await hashOf(pieces) });
  const headers = input.headers.toSorted(byName);
  const written = { ...input, interface: undefined, attachments: files, headers };
  const sorted = (addresses: readonly string[]) => addresses.map(addressKey).sort();
  return {
    written,
    async resolve() {
      const terms =
        input.from === null ? await readEmailTerms(services.sql, caller.accountId, null, []) : null;
      const from = addressKey(input.from ?? defaultSender(terms?.domain ?? null));
      return { ...written, from, to: sorted(input.to), cc: sorted(input.cc), bcc: sorted(input.bcc) };
    },
  };
}

function defaultSender(domain: string | null): string {
  return `${DEFAULT_LOCAL}@${domain}`;
}

// The order of headers does not matter to the fingerprint.
const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

async function hashOf(pieces: readonly Buffer[]): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    await setImmediate();
    hash.update(piece);
  }
  return hash.digest('hex');
}

/** @throws Refused for a repeated address, which would be sent to and charged twice */
function refuseRepeated({ to, cc, bcc }: EmailInput): void {
  const seen = new Set<string>();
  for (const [field, addresses] of Object.entries({ to, cc, bcc })) {
    for (const address of addresses) {
      const key = addressKey(address);
      if (seen.has(key)) throw new Refused({ reason: 'address_repeated', field }, field);
      seen.add(key);
    }
  }
}

/** @throws Refused for several recipients: the unsubscribe link identifies one */
function refuseUnclearUnsubscribing({ to, cc, bcc, listUnsubscribe }: EmailInput): void {
  if (listUnsubscribe && to.length + cc.length + bcc.length !== 1)
    throw new Refused({ reason: 'unsubscribe_needs_one' }, 'list_unsubscribe');
}

/** Plans an e-mail and checks all but the quotas, which are checked in the write's transaction because of concurrent requests. */
async function planEmail({ services, caller, input, requestId }: EmailContext) {
  const { sql } = services;
  const { to, cc, bcc } = input;
  const asked = Object.entries({ to, cc, bcc }).flatMap(([kind, addresses]) =>
    addresses.map((address) => ({ kind: kind as EmailRecipient['kind'], address })),
  );
  const from = input.from === null ? null : domainOf(input.from);
  const terms = await readEmailTerms(
    sql,
    caller.accountId,
    from,
    asked.map(({ address }) => addressKey(address)),
    input.secret,
  );
  if (terms === null) throw new Refused({ reason: 'account_closed' });
  const suppressed = new Set(terms.suppressed);
  const recipients = asked.map((one): EmailRecipient => ({
    ...one,
    suppressed: suppressed.has(addressKey(one.address)),
  }));
  const paid = recipients.filter((one) => !one.suppressed);
  refuseUnverified(terms, from, paid);

  const id = newId('em');
  const route = await routeOf({ services, caller }, terms, id, paid.length === 0);
  const costGrosze = GROSZE_AN_ADDRESS * paid.length;
  refuseUnpaid(terms, costGrosze);
  const email: NewEmail = {
    id,
    requestId,
    route,
    recipients,
    accountId: caller.accountId,
    interface: input.interface,
    domain: terms.domain!,
    fromAddress: input.from ?? defaultSender(terms.domain),
    fromName: input.fromName,
    replyTo: input.replyTo,
    subject: input.subject,
    headers: input.headers,
    idx: input.idx,
    unsubscribeToken: input.listUnsubscribe ? randomToken(UNSUBSCRIBE_TOKEN_LENGTH) : null,
    costGrosze,
    testCredits: terms.mode === 'test' ? paid.length : 0,
    // Content that is never sent is not stored.
    ...(paid.length === 0
      ? { html: null, text: null, sealed: null, attachments: [] }
      : { html: input.html, ...textOf(input, id, services.secretsKey), attachments: input.attachments }),
    createdAt: new Date(terms.now),
    giveUpAt: new Date(terms.now + EVENTS_FOR_MS),
  };
  return { email, limits: quotasOf(terms.quotas) };
}

function textOf({ text, secret = false }: EmailInput, id: string, key: Buffer) {
  if (!secret || text === null) return { text, sealed: null };
  return { text: null, sealed: encrypt(key, emailSecretOwner(id), text) };
}

function refuseUnverified(terms: EmailTerms, from: string | null, paid: readonly EmailRecipient[]): void {
  if (terms.domain === null || terms.verifiedRoutes.length === 0) {
    if (from === null && terms.domain === null)
      throw new Refused({ reason: 'sender_domain_missing' }, 'from');
    throw new Refused({ reason: 'sender_domain_unverified', domain: from ?? terms.domain! }, 'from');
  }
  // As with the numbers of a test account (v2.3.0, Authentication, 8): only the customer's own addresses.
  const own = new Set(terms.ownDomains);
  const foreign = terms.mode === 'test' ? paid.find(({ address }) => !own.has(domainOf(address))) : undefined;
  if (foreign !== undefined) throw new Refused({ reason: 'address_not_own' }, foreign.kind);
}

/** @throws Refused if no e-mail route is up (v1.2.0, POST /v1/email, 503), or none is verified for the sender's domain */
async function routeOf(
  { services, caller }: Pick<EmailContext, 'services' | 'caller'>,
  { verifiedRoutes }: EmailTerms,
  id: string,
  allSuppressed: boolean,
): Promise<string> {
  if (allSuppressed) return NO_ROUTE;
  const traffic = emailTraffic(id, caller.accountId);
  const route = workingRoute(await services.routing(), traffic, (name) => verifiedRoutes.includes(name));
  if (route === null) throw new Refused({ reason: 'email_no_route' });
  return route;
}

function refuseUnpaid(terms: EmailTerms, costGrosze: number): void {
  if (terms.overdue) throw new Refused({ reason: 'statement_overdue' });
  const affordable =
    terms.mode === 'test'
      ? terms.testCredits * GROSZE_AN_ADDRESS >= costGrosze
      : terms.availableGrosze >= costGrosze;
  // A free e-mail is accepted even with a negative balance.
  if (costGrosze > 0 && !affordable) throw new Refused({ reason: 'insufficient_funds' });
}
