import { createHash } from 'node:crypto';
import { type EmailDraft, type EmailRecipient, writeEmailDraft } from '../../db/emails/drafts.ts';
import { UNSUBSCRIBE_TOKEN_LENGTH } from '../../db/emails/suppressions.ts';
import {
  countUnpaidEmails,
  countWaitingFileBytes,
  type EmailTerms,
  readEmailTerms,
} from '../../db/emails/terms.ts';
import { idFloor, newId } from '../../db/ids.ts';
import { abandonRequest } from '../../db/messages/undecided.ts';
import { randomToken } from '../../db/links/tokens.ts';
import { addressKey, domainOf } from '../../domain/email/address.ts';
import { EVENTS_FOR_MS, GROSZE_AN_ADDRESS } from '../../domain/email/limits.ts';
import { quotasOf } from '../../domain/quotas.ts';
import { Refused } from '../../domain/refusals.ts';
import { emailTraffic, workingRoute } from '../../domain/routing.ts';
import { addIds } from '../../telemetry/ids.ts';
import type { Asked, Caller } from '../asked.ts';
import type { Pace } from '../pace.ts';
import { endIfGone } from '../endIfGone.ts';
import { quotaReached } from '../quotas.ts';
import { findReplay, fingerprintOf, type Keyed, keyedBy, type Sent } from '../sending/idempotency.ts';
import { decideEmail, type EmailServices } from './acceptance.ts';
import type { EmailInput } from './input.ts';

const DAY_MS = 24 * 3_600_000;
// The sender at the account's default domain, where it names none.
const DEFAULT_LOCAL = 'noreply';
// An e-mail that goes to nobody takes none.
const NOBODY = 'none';

/** An e-mail that is asked to be sent: by a caller, or by the service itself for its own account. */
export interface EmailAsked extends Omit<Asked<EmailInput>, 'services' | 'caller'> {
  services: EmailServices;
  caller: Pick<Caller, 'accountId'>;
}

/** What a send of an e-mail is answered with (v1.2.0, Email response). */
export interface SentEmail {
  id: string;
  to: string;
  status: string;
  /** In points: one is a grosz. */
  cost: number;
  sent_at: string;
}

/**
 * Sends an e-mail: it is charged and on its way, or refused with nothing left of it.
 * @returns `replayed`: it was sent before with the same `idx`
 * @throws Refused
 */
export async function sendEmail(asked: EmailAsked): Promise<Sent<SentEmail>> {
  const { services, input, receivedAt, requestId } = asked;
  const keyed = await keyOf(asked);
  const replay = await findReplay<SentEmail>(asked, keyed);
  if (replay !== null) return replay;

  refuseRepeated(input);
  refuseUnclearUnsubscribing(input);
  let draft: EmailDraft;
  try {
    draft = await planEmail(asked);
  } catch (error) {
    // The first e-mail with this key may have been accepted meanwhile, and taken the money.
    const taken = error instanceof Refused ? await findReplay<SentEmail>(asked, keyed) : null;
    if (taken === null) throw error;
    return taken;
  }
  const email = answerOf(draft);
  addIds({ emailId: draft.id });
  const claim =
    keyed === null ? null : { ...keyed, acceptedStatus: 200, acceptedBody: email as unknown as object };
  if (!(await writeEmailDraft(services.sql, draft, claim))) {
    const taken = await findReplay<SentEmail>(asked, keyed);
    if (taken === null) throw new Refused({ reason: 'idempotency_in_progress' }, 'idx');
    return taken;
  }
  await endIfGone(() => abandonRequest(services.sql, requestId));
  const resolution = await decideEmail(services, draft, receivedAt);
  if (resolution === 'insufficient_funds') throw new Refused({ reason: resolution });
  return { body: email, replayed: false };

  function answerOf({ id, costGrosze, testCredits, recipients, createdAt }: EmailDraft): SentEmail {
    return {
      id,
      to: input.to.join(', '),
      status: recipients.every(({ suppressed }) => suppressed) ? 'suppressed' : 'queued',
      cost: testCredits > 0 ? 0 : costGrosze,
      sent_at: createdAt.toISOString(),
    };
  }
}

/** The key by which a repeated `idx` is known, and what makes two e-mails the same; null without `idx`. */
async function keyOf({ services, input, pace }: EmailAsked): Promise<Keyed | null> {
  const { idx, attachments } = input;
  if (idx === null) return null;
  const files = [];
  for (const { pieces, ...file } of attachments) files.push({ ...file, sha256: await hashOf(pieces, pace) });
  return {
    ...keyedBy('email', idx),
    fingerprint: fingerprintOf(services.secretsKey, 'idx', 'email', {
      ...{ ...input, interface: undefined, attachments: files, headers: input.headers.toSorted(byName) },
    }),
  };
}

// Their order means nothing to those who read them.
const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

async function hashOf(pieces: readonly Buffer[], pace: Pace): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    if (pace.due()) await pace.rest();
    hash.update(piece);
  }
  return hash.digest('hex');
}

/** @throws Refused where an address is there twice: it would get the e-mail twice, or cost twice */
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

/** @throws Refused where a link to unsubscribe could not say whose it is */
function refuseUnclearUnsubscribing({ to, cc, bcc, listUnsubscribe }: EmailInput): void {
  if (listUnsubscribe && to.length + cc.length + bcc.length !== 1)
    throw new Refused({ reason: 'unsubscribe_needs_one' }, 'list_unsubscribe');
}

/**
 * Reads an e-mail through: sender, recipients, price, route. Whatever can be refused is refused here, before anything is written.
 * @throws Refused
 */
async function planEmail({ services, caller, input, requestId }: EmailAsked): Promise<EmailDraft> {
  const { sql } = services;
  const asked = allRecipients(input);
  const from = input.from === null ? null : domainOf(input.from);
  const terms = await readEmailTerms(
    sql,
    caller.accountId,
    from,
    asked.map(({ address }) => addressKey(address)),
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
  await refuseUnpaid({ services, caller }, terms, costGrosze);
  if (paid.length > 0) await refuseFilesBeyond({ services, caller }, terms, input);
  return {
    ...{ id, requestId, route, recipients },
    accountId: caller.accountId,
    interface: input.interface,
    domain: terms.domain!,
    fromAddress: input.from ?? `${DEFAULT_LOCAL}@${terms.domain}`,
    fromName: input.fromName,
    replyTo: input.replyTo,
    subject: input.subject,
    headers: input.headers,
    idx: input.idx,
    unsubscribeToken: input.listUnsubscribe ? randomToken(UNSUBSCRIBE_TOKEN_LENGTH) : null,
    costGrosze,
    testCredits: terms.mode === 'test' ? paid.length : 0,
    // What goes to nobody is not kept.
    ...(paid.length === 0
      ? { html: null, text: null, attachments: [] }
      : { html: input.html, text: input.text, attachments: input.attachments }),
    createdAt: new Date(terms.now),
    giveUpAt: new Date(terms.now + EVENTS_FOR_MS),
  };
}

function allRecipients({ to, cc, bcc }: EmailInput): Omit<EmailRecipient, 'suppressed'>[] {
  return Object.entries({ to, cc, bcc }).flatMap(([kind, addresses]) =>
    addresses.map((address) => ({ kind: kind as EmailRecipient['kind'], address })),
  );
}

function refuseUnverified(terms: EmailTerms, from: string | null, paid: readonly EmailRecipient[]): void {
  if (terms.domain === null || terms.verifiedRoutes.length === 0) {
    if (from === null && terms.domain === null)
      throw new Refused({ reason: 'sender_domain_missing' }, 'from');
    throw new Refused({ reason: 'sender_domain_unverified', domain: from ?? terms.domain! }, 'from');
  }
  // As the numbers of a test account (v2.3.0, Authentication, 8): nobody but the customer.
  const own = new Set(terms.ownDomains);
  const stranger =
    terms.mode === 'test' ? paid.find(({ address }) => !own.has(domainOf(address))) : undefined;
  if (stranger !== undefined) throw new Refused({ reason: 'address_not_own' }, stranger.kind);
}

type Who = Pick<EmailAsked, 'services' | 'caller'>;

/** @throws Refused where no route for e-mail works (v1.2.0, POST /v1/email, 503), or none is for the sender's domain */
async function routeOf(
  { services, caller }: Who,
  { verifiedRoutes }: EmailTerms,
  id: string,
  nobody: boolean,
): Promise<string> {
  if (nobody) return NOBODY;
  const traffic = emailTraffic(id, caller.accountId);
  const route = workingRoute(await services.routing(), traffic, (name) => verifiedRoutes.includes(name));
  if (route === null) throw new Refused({ reason: 'email_no_route' });
  return route;
}

async function refuseUnpaid({ services, caller }: Who, terms: EmailTerms, costGrosze: number): Promise<void> {
  if (terms.overdue) throw new Refused({ reason: 'statement_overdue' });
  if (costGrosze === 0) {
    // Rows that cost nothing have a bound as well.
    const limit = quotasOf(terms.quotas).unpaid_messages;
    const since = idFloor('em', terms.now - DAY_MS);
    if ((await countUnpaidEmails(services.sql, caller.accountId, since, limit)) >= limit)
      throw quotaReached('unpaid_messages', limit, 'to');
    return;
  }
  const affordable =
    terms.mode === 'test'
      ? terms.testCredits * GROSZE_AN_ADDRESS >= costGrosze
      : terms.availableGrosze >= costGrosze;
  if (!affordable) throw new Refused({ reason: 'insufficient_funds' });
}

/** @throws Refused where the account's files wait for their hand-over beyond its quota */
async function refuseFilesBeyond(
  { services, caller }: Who,
  { quotas }: EmailTerms,
  { attachments }: EmailInput,
): Promise<void> {
  if (attachments.length === 0) return;
  const limit = quotasOf(quotas).email_file_bytes;
  const more = attachments.reduce((all, { bytes }) => all + bytes, 0);
  if ((await countWaitingFileBytes(services.sql, caller.accountId)) + more > limit)
    throw quotaReached('email_file_bytes', limit, 'attachments');
}
