import type { Sql } from '../../db/connection.ts';
import { knownOptOuts } from '../../db/incoming/blacklist.ts';
import { LINK_TOKEN_LENGTH, NO_OPT_OUT_TOKEN, OPT_OUT_TOKEN_LENGTH } from '../../domain/links.ts';
import { randomToken } from '../../db/ids.ts';
import { knownLinks } from '../../db/links/links.ts';
import type { NewLink, NewMessage } from '../../db/messages/accept.ts';
import { linkAddresses } from '../../domain/placeholders.ts';
import { type PersonalLinks, type Wording, writtenOut } from './wording.ts';
import { INTERFACE } from '../../domain/ids.ts';
import { mapInChunks } from '../../concurrency/tasks.ts';
import { countryOf } from '../../domain/msisdn.ts';
import type { OperationContext } from '../context.ts';
import type { Plan } from './plan.ts';
import type { SendInput } from './send.ts';
import { readMessageUsage } from '../../db/accounts/quotas.ts';
import { quotasOf } from '../../domain/money.ts';
import { quotaReached } from '../quotas.ts';
import type { Refused } from '../../domain/refusals.ts';

interface OwnLinks extends PersonalLinks {
  tracked: NewLink[];
  /** The token of a new opt-out link; null: there is one already, or none is needed. */
  newOptOut: string | null;
}

/** Placeholder links of the real length, for measuring a text before anything is written. */
export function sampleLinks(shortUrl: string): PersonalLinks {
  const host = withoutScheme(shortUrl);
  return {
    optOut: `${host}/o/${NO_OPT_OUT_TOKEN}`,
    link: () => `${host}/l/${'X'.repeat(LINK_TOKEN_LENGTH)}`,
  };
}

/**
 * Finds or makes each recipient's links: one opt-out link per sender, one tracked link per address (v2.3.0, TrackedLink; Blacklist and
 * opt-out). New ones only get a token; nothing is written. Links in texts have no scheme, to save characters.
 */
async function ownLinks(
  sql: Sql,
  accountId: string,
  sender: string | null,
  { pieces }: Wording,
  shortUrl: string,
  msisdns: readonly string[],
): Promise<(msisdn: string) => OwnLinks> {
  const urls = linkAddresses(pieces);
  const wanted = msisdns.flatMap((recipient) => urls.map((url) => ({ recipient, url })));
  const known = await knownLinks(sql, accountId, wanted);
  const hasOptOut = pieces.some(({ kind }) => kind === 'opt-out');
  const optOuts = hasOptOut
    ? await knownOptOuts(sql, accountId, sender ?? '', msisdns)
    : new Map<string, string>();
  const host = withoutScheme(shortUrl);
  return (msisdn) => {
    const tracked = urls.map((url) => linkOf(url, known.get(`${msisdn}\n${url}`)));
    const newOptOut = hasOptOut && !optOuts.has(msisdn) ? randomToken(OPT_OUT_TOKEN_LENGTH) : null;
    return {
      optOut: `${host}/o/${optOuts.get(msisdn) ?? newOptOut}`,
      link: (url) => `${host}/l/${tracked.find((link) => link.url === url)!.token}`,
      tracked,
      newOptOut,
    };
  };
}

function linkOf(url: string, known: string | undefined): NewLink {
  return { url, token: known ?? randomToken(LINK_TOKEN_LENGTH), isNew: known === undefined };
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, '');
}

/** Builds the planned messages, each text with its recipient's own links. Nothing is stored. */
export async function newMessages(
  { services, caller, input, requestId }: OperationContext<SendInput>,
  plan: Plan,
): Promise<NewMessage[]> {
  const { terms, sender, wording } = plan;
  const msisdns = plan.messages.map(({ recipient }) => recipient.msisdn);
  const { sql, shortUrl } = services;
  const linksOf = await ownLinks(sql, caller.accountId, sender, wording, shortUrl, msisdns);
  const now = new Date(terms.now);
  return await mapInChunks(
    plan.messages,
    ({ id, route, recipient, values, parts, cut, rejected, rejection, costGrosze, timing }) => {
      // The same length as the samples in the plan. A rejected message stores no links: it is free, and would keep them for ever.
      const links = linksOf(recipient.msisdn);
      return {
        id,
        accountId: caller.accountId,
        requestId,
        batched: plan.batched,
        channel: plan.channel,
        status: rejected ? 'rejected' : timing.acceptedAs,
        recipient: recipient.msisdn,
        country: countryOf(recipient.msisdn),
        sender,
        text: writtenOut(wording, values, links, recipient.index),
        content: wording.content,
        parts,
        cut,
        links: rejected ? [] : links.tracked,
        optOutToken: rejected ? null : links.newOptOut,
        costGrosze,
        testCredits: terms.mode === 'test' && !rejected ? 1 : 0,
        priority: plan.priority,
        reference: input.reference ?? null,
        interface: input.interface ?? INTERFACE,
        idx: input.idx ?? null,
        sendAt: rejected ? null : timing.sendAt,
        expiresAt: timing.expiresAt,
        giveUpAt: timing.giveUpAt,
        route,
        deliveredAt: null,
        errorCode: rejection,
        createdAt: now,
        updatedAt: now,
      };
    },
  );
}

/**
 * The refusal above the quotas of scheduled or unpaid messages; no query if the plan has neither. Checked before the write, so concurrent
 * requests may exceed the scheduled quota together; acceptance checks batches of rejected messages exactly.
 */
export async function messageQuotaRefusal(
  sql: Sql,
  accountId: string,
  { terms, messages }: Plan,
): Promise<Refused | null> {
  const rejected = unpaidOf(messages);
  const scheduled = messages.filter(
    ({ rejected: isRejected, timing }) => !isRejected && timing.acceptedAs === 'scheduled',
  ).length;
  if (rejected.unpaid_messages === 0 && scheduled === 0) return null;
  const limits = quotasOf(terms.quotas);
  const used = await readMessageUsage(sql, accountId, limits, terms.now);
  for (const quota of ['unpaid_messages', 'unpaid_bytes'] as const) {
    // Scheduled messages become unpaid when cancelled.
    if (used[quota] + Math.max(rejected[quota], 1) > limits[quota])
      return quotaReached(quota, limits[quota], 'to');
  }
  if (scheduled > 0 && used.scheduled_messages + scheduled > limits.scheduled_messages)
    return quotaReached('scheduled_messages', limits.scheduled_messages, 'to');
  return null;
}

/** Rejected messages of a plan, which are free. Their sample texts are as long as the stored ones. */
function unpaidOf(messages: Plan['messages']): Record<'unpaid_messages' | 'unpaid_bytes', number> {
  const rejected = messages.filter((message) => message.rejected);
  return {
    unpaid_messages: rejected.length,
    unpaid_bytes: rejected.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
}

/** @throws Refused if the new links exceed the account's quota */
export function refuseLinksBeyond({ terms, wording }: Plan, messages: readonly NewMessage[]): void {
  const made = messages.flatMap(({ links }) => links.filter(({ isNew }) => isNew)).length;
  const limit = quotasOf(terms.quotas).links;
  if (made > 0 && terms.links + made > limit) throw quotaReached('links', limit, wording.field);
}
