import {
  type CallConstraints,
  type CallingHours,
  firstMomentInsideAll,
  firstMomentToCall,
  hoursToBegin,
  parseSendWindow,
  type SendWindow,
} from '../../domain/sendWindow.ts';
import {
  type AcceptedStatus,
  blacklistReason,
  DEFAULT_EXPIRY_MS,
  type ErrorCode,
  EXPIRES_MAX_MS,
  EXPIRES_MIN_MS,
  SEND_AT_HORIZON_MS,
} from '../../domain/statuses.ts';
import { Refused } from '../../domain/refusals.ts';
import { mapInChunks } from '../../concurrency/tasks.ts';
import { readSendTerms, type SendTerms } from '../../db/messages/acceptShared.ts';
import { newId } from '../../db/ids.ts';
import { type Channel, type ChannelRules, DEFAULT_CHANNEL } from '../../domain/channelDeclaration.ts';
import { rulesOf } from '../../domain/channels.ts';
import { isHeavy } from '../../domain/sms.ts';
import { messageCost, pricePerPart } from '../../domain/money.ts';
import { mostParts, orderRoutes, type Routing } from '../../domain/routing.ts';
import { INTERFACE } from '../../domain/ids.ts';
import { isNumber } from '../../domain/msisdn.ts';
import type { OperationContext } from '../context.ts';
import type { RequestContent } from './idempotency.ts';
import { sampleLinks } from './newMessages.ts';
import { expandRecipients, readRecipients, type Recipient } from './recipients.ts';
import type { SendInput } from './send.ts';
import { contactValues, findWording, personalText, type PersonalText, type Wording } from './wording.ts';

const DAY_MS = 24 * 3_600_000;

/** Inputs of the send time; instants in epoch milliseconds. */
interface TimesAsked {
  sendAt: number | null;
  windows: readonly SendWindow[];
  calling?: CallConstraints | null;
  expiresAt: number | null;
  /** How long attempts go on without `expiresAt`, in milliseconds; 72 hours by default. */
  validMs?: number | undefined;
}

interface Timing {
  acceptedAs: Exclude<AcceptedStatus, 'rejected'>;
  sendAt: Date | null;
  expiresAt: Date | null;
  giveUpAt: Date;
}

/**
 * Finds the send time (v2.3.0, States and Limits): a `send_at` in the past means now; a time outside the window moves to its next start;
 * `expires_at` counts from the resulting time.
 * @param now epoch milliseconds
 * @throws Refused for a `send_at` beyond 90 days, an `expires_at` outside 15 minutes to 72 hours, and windows that never overlap
 */
export function findTiming(asked: TimesAsked, now: number): Timing {
  if (asked.sendAt !== null && asked.sendAt > now + SEND_AT_HORIZON_MS) {
    throw new Refused({ reason: 'send_at_too_far', days: SEND_AT_HORIZON_MS / DAY_MS }, 'send_at');
  }
  const wanted = Math.max(asked.sendAt ?? now, now);
  const { windows, calling = null } = asked;
  const sendTime =
    calling === null ? firstMomentInsideAll(wanted, windows) : firstMomentToCall(wanted, windows, calling);
  if (sendTime === null) throw new Refused({ reason: 'calling_hours_missed' }, 'send_window');
  const { expiresAt } = asked;
  if (
    expiresAt !== null &&
    (expiresAt < sendTime + EXPIRES_MIN_MS || expiresAt > sendTime + EXPIRES_MAX_MS)
  ) {
    throw new Refused({ reason: 'expires_at_out_of_range' }, 'expires_at');
  }
  const later = sendTime > now;
  return {
    acceptedAs: later ? 'scheduled' : 'queued',
    sendAt: later ? new Date(sendTime) : null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    giveUpAt: new Date(expiresAt ?? sendTime + (asked.validMs ?? DEFAULT_EXPIRY_MS)),
  };
}

// The route of messages that are never sent.
const NO_ROUTE = 'none';
export const ANY_TIME = '00:00-24:00';

/** What a request would send, to whom, when and at what cost. Nothing is written, charged or sent. */
export interface Plan {
  /** The response is a list: `to` was an array or a group. */
  batched: boolean;
  channel: Channel;
  terms: SendTerms;
  /** Null for a call without a number of the account: the provider's number is shown. */
  sender: string | null;
  priority: boolean;
  wording: Wording;
  messages: PlannedMessage[];
}

/** One recipient's message, with sample links as long as the real ones. */
export interface PlannedMessage extends PersonalText {
  recipient: Recipient;
  values: ReadonlyMap<string, string>;
  /** On the account's blacklist: rejected and free. */
  rejected: boolean;
  rejection: ErrorCode | null;
  perPartGrosze: number;
  costGrosze: number;
  id: string;
  route: string;
  timing: Timing;
}

/** Plans a request: recipients, sender, texts, prices, times (v2.3.0, Send). All checks that need no write happen here. @throws Refused */
export async function planMessages(context: OperationContext<SendInput>): Promise<Plan> {
  const { input, caller, services } = context;
  const { sql } = services;
  const read = await readRecipients(input.to, input.recipientsMax);
  const channel = input.channel ?? DEFAULT_CHANNEL;
  const wording = await findWording(sql, caller.accountId, input, channel);
  const recipients = await expandRecipients(sql, caller.accountId, read, input.recipientsMax);
  if (isHeavy(charactersOf(wording) * recipients.length)) context.acquireHeavySlot();
  const msisdns = recipients.map(({ msisdn }) => msisdn);
  const terms = await readSendTerms(sql, caller.accountId, input.from ?? null, msisdns);
  if (terms === null) throw new Refused({ reason: 'account_closed' });

  const rules = rulesOf(channel);
  const sender = senderOf(input.from, terms, services.settings.DEFAULT_SENDER, rules);
  refuseUnverified(recipients, terms);
  const timingBy = timings(input, terms);
  const priority = rules.priority && (input.priority ?? false);
  const valuesOf = await contactValues(sql, caller.accountId, wording, recipients);
  const links = sampleLinks(services.shortUrl);
  const blacklisted = new Set(terms.blacklisted);
  const optedOut = new Set(terms.optedOut);
  const routing = await services.routing();
  const messages = await mapInChunks(recipients, (recipient): PlannedMessage => {
    const values = valuesOf(recipient.msisdn);
    const text = personalText(wording, recipient, values, links);
    const isAskedFor = input.code !== undefined && optedOut.has(recipient.msisdn);
    const rejected = blacklisted.has(recipient.msisdn) && !isAskedFor;
    const price = perPart(rules, recipient, priority, terms);
    if (price === null && !rejected) throw noPrice(recipient);
    const perPartGrosze = price ?? 0;
    const costGrosze = rejected ? 0 : messageCost(text.parts, perPartGrosze);
    const id = newId('msg');
    const traffic = {
      type: channel,
      key: id,
      msisdn: recipient.msisdn,
      accountId: caller.accountId,
      priority,
      parts: text.parts,
    };
    const route = orderRoutes(routing, traffic)[0] ?? null;
    if (route === null && !rejected)
      throw noRoute(recipient, mostParts(routing, traffic), text.parts, wording);
    return {
      recipient,
      values,
      ...text,
      rejected,
      rejection: rejected ? blacklistReason(optedOut.has(recipient.msisdn)) : null,
      perPartGrosze,
      costGrosze,
      id,
      route: route ?? NO_ROUTE,
      timing: timingBy(channel === 'vms' && !rejected ? callingHoursOf(routing, route) : null),
    };
  });
  return { batched: read.batched, channel, terms, sender, priority, wording, messages };
}

function charactersOf({ pieces }: Wording): number {
  return pieces.reduce((sum, piece) => sum + (piece.kind === 'text' ? piece.text.length : 0), 0);
}

/** Whether funds (balance plus credit limit, or test credits) cover the plan now. The charge itself decides: others may be concurrent. */
export function isAffordable({ terms, messages }: Plan): boolean {
  if (terms.mode === 'test') return terms.testCredits >= messages.filter(({ rejected }) => !rejected).length;
  const total = totalCost(messages);
  return total === 0 || terms.availableGrosze >= total;
}

/** Grosze net. */
export function totalCost(messages: readonly PlannedMessage[]): number {
  return messages.reduce((sum, { costGrosze }) => sum + costGrosze, 0);
}

// Destinations outside the EU need availability confirmation (v2.3.0, Send, rule 4): one is available if a route leads there.
function noRoute({ index }: Recipient, limit: number | null, parts: number, { field }: Wording): Refused {
  if (limit === null) return new Refused({ reason: 'no_route', index }, 'to');
  return new Refused({ reason: 'text_too_long', parts, limit, index }, field);
}

function callingHoursOf({ routes }: Routing, name: string | null): CallingHours | null {
  return routes.find((route) => route.name === name)?.callingHours ?? null;
}

/** The effective window. The earlier interface has none: without `date` it sends immediately (v1.2.0, POST /v1/sms). */
function windowOf({ interface: form, send_window: own }: SendInput, terms: SendTerms): string {
  return own ?? (form === 'v1' ? null : terms.sendWindow) ?? ANY_TIME;
}

function timings(input: SendInput, terms: SendTerms): (hours: CallingHours | null) => Timing {
  const found = new Map<CallingHours | null, Timing>();
  const window = parseSendWindow(windowOf(input, terms));
  const windows = window === null ? [] : [window];
  const { send_at: sendAt = null, expires_at: expiresAt = null, tries = 1 } = input;
  const find = (hours: CallingHours | null): Timing => {
    if (hours !== null && hoursToBegin(hours, tries) === null)
      throw new Refused({ reason: 'calling_hours_missed' }, 'tries');
    const calling = hours === null ? null : { hours, tries };
    return findTiming({ sendAt, windows, calling, expiresAt, validMs: input.code?.validMs }, terms.now);
  };
  return (hours) => {
    const timing = found.get(hours) ?? find(hours);
    found.set(hours, timing);
    return timing;
  };
}

function perPart(
  { channel, domesticPrice, foreignAtTwice }: ChannelRules,
  { msisdn }: Recipient,
  priority: boolean,
  terms: SendTerms,
): number | null {
  return pricePerPart({
    channel,
    msisdn,
    priority,
    foreignAtTwice,
    domesticGrosze: domesticPrice(terms),
    countryRates: terms.countryRates,
  });
}

function noPrice({ index }: Recipient): Refused {
  return new Refused({ reason: 'foreign_price_missing', index }, 'to');
}

// Any account may use the installation's default sender; any other must be active on its own list.
function senderOf(
  asked: string | undefined,
  terms: SendTerms,
  installationDefault: string,
  { senderIsNumber }: ChannelRules,
): string | null {
  const isDefault = asked === undefined || asked === installationDefault;
  if (terms.sender === null && !isDefault) {
    throw new Refused({ reason: 'sender_inactive', sender: asked }, 'from');
  }
  const sender = terms.sender ?? installationDefault;
  if (!senderIsNumber || isNumber(sender)) return sender;
  if (asked !== undefined) throw new Refused({ reason: 'sender_not_number', sender: asked }, 'from');
  return null;
}

function refuseUnverified(recipients: readonly Recipient[], { unverified }: SendTerms): void {
  if (unverified.length === 0) return;
  const first = recipients.find(({ msisdn }) => unverified.includes(msisdn));
  throw new Refused({ reason: 'recipient_unverified', index: first?.index ?? null }, 'to');
}

/** What tells a send from another one with its idempotency key. @param plan of the same input, if there is one */
export function contentOf(context: OperationContext<SendInput>, plan?: Plan): RequestContent {
  const { input } = context;
  return {
    written: { interface: INTERFACE, channel: DEFAULT_CHANNEL, ...input },
    resolve: async () => resolvedOf(input, plan ?? (await planMessages(context))),
  };
}

/** Values of contacts, the blacklist and prices are left out: they change what the same send comes to. */
function resolvedOf(
  input: SendInput,
  { channel, batched, sender, priority, wording, terms, messages }: Plan,
) {
  const { interface: form = INTERFACE, send_at, expires_at, reference, idx } = input;
  const { pieces, content, finish } = wording;
  const recipients = messages.map(({ recipient }) => recipient.msisdn).sort();
  const window = windowOf(input, terms);
  return {
    ...{ form, channel, batched, sender, priority, recipients, pieces, content, finish },
    ...{ send_at, window, expires_at, reference, idx },
  };
}
