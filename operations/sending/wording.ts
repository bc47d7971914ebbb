import { SUBJECT_MAX } from '../../domain/channels/mms.ts';
import type { Channel, Measure } from '../../domain/channelDeclaration.ts';
import { firstNonGsm7, hasMoreCharacters, normalize } from '../../domain/gsm7.ts';
import { Refused } from '../../domain/refusals.ts';
import { storedOptions } from '../../domain/sms.ts';
import { isOneLine } from '../../domain/ids.ts';
import { isBlank } from '../../domain/text.ts';
import type { SendInput } from './send.ts';
import {
  fillIn,
  firstMalformed,
  LINK_ADDRESSES_MAX,
  linkAddresses,
  parsePlaceholders,
  type Piece,
  placeholderCount,
  placeholderKey,
  PLACEHOLDERS_MAX,
  render,
} from '../../domain/placeholders.ts';
import { contactsOf, type ContactValues } from '../../db/contacts/contacts.ts';
import type { Sql } from '../../db/connection.ts';
import { readTemplate } from '../../db/messages/templates.ts';
import { rulesOf } from '../../domain/channels.ts';
import type { Recipient } from './recipients.ts';

type TemplateExtras = { subject: string | null } | null;

/** Channel-specific content besides the text, as stored. @throws Refused naming `subject`, or `template_id` for a template's subject */
const CONTENTS: Readonly<Record<Channel, (request: SendInput, template: TemplateExtras) => object | null>> = {
  // `normalize` yields GSM-7, so it overrides `ucs2`: callers give up diacritics for longer parts.
  sms: ({ encoding, normalize = false, flash = false, code }) =>
    storedOptions({ flash, ucs2: encoding === 'ucs2' && !normalize, verification: code?.of }),
  mms: ({ subject: own }, template) => ({ subject: subjectOf(own, template) }),
  vms: ({ voice = 'ewa', tries = 1 }) => ({ voice, tries }),
};

function subjectOf(own: string | undefined, template: TemplateExtras): string {
  const subject = own ?? template?.subject ?? null;
  if (subject === null) throw new Refused({ reason: 'field_missing', field: 'subject' }, 'subject');
  // A template may predate the rules for subjects.
  const blamed = own === undefined ? 'template_id' : 'subject';
  if (hasMoreCharacters(subject, SUBJECT_MAX)) {
    const refusal = { reason: 'field_too_long', field: 'subject', unit: 'characters' } as const;
    throw new Refused({ ...refusal, limit: SUBJECT_MAX }, blamed);
  }
  if (!isOneLine(subject)) throw new Refused({ reason: 'characters_forbidden', field: 'subject' }, blamed);
  return subject;
}

/** @param field the request field to blame @throws Refused with the source and position of a `{{` that begins no valid placeholder */
export function refuseMalformed(pieces: readonly Piece[], field: string): void {
  const malformed = firstMalformed(pieces);
  if (malformed === null) return;
  const { what, source, position } = malformed;
  throw new Refused({ reason: `${what}_malformed`, source, position }, field);
}

/** The text of a request before it is rendered per recipient. */
export interface Wording {
  pieces: Piece[];
  channel: Channel;
  field: 'text' | 'smil' | 'template_id';
  finish: { normalize: boolean; gsm7Only: boolean };
  /** Channel-specific content besides the text, as stored. */
  content: object | null;
}

export interface PersonalLinks {
  optOut: string;
  link: (url: string) => string;
}

export interface PersonalText extends Measure {
  text: string;
}

/**
 * Finds and checks the text of a request or its template, with `params` filled in (v2.3.0, Send; rule 5).
 * @throws Refused naming `text`, `template_id` or `params`
 */
export async function findWording(
  sql: Sql,
  accountId: string,
  request: SendInput,
  channel: Channel,
): Promise<Wording> {
  const { template, ...source } = await writtenOrTemplate(sql, accountId, request, channel);
  const { encoding, normalize: normalized = false } = request;
  const finish = { normalize: normalized, gsm7Only: encoding === 'gsm7' };
  const wording = { channel, ...source, finish, content: CONTENTS[channel](request, template) };
  const { pieces, field } = wording;
  refuseMalformed(pieces, field);
  rejectLinksInVoiceCalls(channel, pieces, field);
  if (linkAddresses(pieces).length > LINK_ADDRESSES_MAX)
    throw new Refused({ reason: 'links_too_many', limit: LINK_ADDRESSES_MAX }, field);
  if (placeholderCount(pieces) > PLACEHOLDERS_MAX)
    throw new Refused({ reason: 'placeholders_too_many', limit: PLACEHOLDERS_MAX }, field);
  // A text too long even without its placeholders is refused before it is rendered per recipient.
  const { text, isWhole } = beginningOf(pieces);
  if (!isWhole) refuseFarTooLong(wording, text);
  measure(wording, finished(wording, text, null), null);
  return wording;
}

// Twenty parts hold about 3,000 characters, but params can expand a request of a few kilobytes to millions.
const MEASURED_MAX = 50_000;

function beginningOf(pieces: readonly Piece[]): { text: string; isWhole: boolean } {
  let text = '';
  for (const piece of pieces) {
    if (piece.kind !== 'text') continue;
    text += piece.text;
    if (text.length > MEASURED_MAX) return { text: text.slice(0, MEASURED_MAX), isWhole: false };
  }
  return { text, isWhole: true };
}

/** @throws Refused as for any text that is too long, with a lower bound of its parts */
function refuseFarTooLong(wording: Wording, beginning: string): never {
  const { channel, field } = wording;
  const limit = rulesOf(channel).maxParts;
  let parts = limit + 1;
  try {
    measure(wording, finished(wording, beginning, null), null);
  } catch (error) {
    if (!(error instanceof Refused) || error.refusal.reason !== 'text_too_long') throw error;
    parts = error.refusal.parts;
  }
  throw new Refused({ reason: 'text_too_long', parts, limit, index: null, isMore: true }, field);
}

async function writtenOrTemplate(
  sql: Sql,
  accountId: string,
  request: SendInput,
  channel: Channel,
): Promise<Pick<Wording, 'pieces' | 'field'> & { template: TemplateExtras }> {
  const { template_id: templateId, params } = request;
  const field = channel === 'mms' ? 'smil' : 'text';
  const { escapeText, unescapeText } = rulesOf(channel);
  if (templateId === undefined) {
    if (params !== undefined) throw new Refused({ reason: 'params_without_template' }, 'params');
    const text = request[field];
    if (text === undefined) throw new Refused({ reason: 'field_missing', field }, field);
    const literal = request.literal === true;
    refuseUnsendable(channel, text, literal, field);
    const pieces: Piece[] = literal ? [{ kind: 'text', text }] : parsePlaceholders(text, unescapeText);
    return { pieces, field, template: null };
  }
  const values = paramsByKey(params ?? {});
  const template = await readTemplate(sql, accountId, templateId);
  if (template === null) throw new Refused({ reason: 'template_unknown', given: templateId }, 'template_id');
  if (template.type !== channel) throw new Refused({ reason: 'template_type', channel }, 'template_id');
  refuseUnsendable(channel, template.body, false, 'template_id');
  const filled = new Map([...values].map(([key, value]) => [key, escapeText(value)]));
  return {
    pieces: fillIn(parsePlaceholders(template.body, unescapeText), filled),
    field: 'template_id',
    template,
  };
}

function refuseUnsendable(channel: Channel, text: string, literal: boolean, field: string): void {
  const { longest, faultOf } = rulesOf(channel);
  refuseLonger(text, longest, field);
  const fault = faultOf(text, literal);
  if (fault !== null) throw new Refused(fault, field);
}

function rejectLinksInVoiceCalls(channel: Channel, pieces: readonly Piece[], field: string): void {
  if (!rulesOf(channel).links && pieces.some(({ kind }) => kind === 'link' || kind === 'opt-out'))
    throw new Refused({ reason: 'links_unheard' }, field);
}

function refuseLonger(text: string, limit: number | null, field: string): void {
  if (limit !== null && hasMoreCharacters(text, limit))
    throw new Refused({ reason: 'field_too_long', field, limit, unit: 'characters' }, field);
}

function paramsByKey(params: Record<string, string>): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(params)) {
    const key = placeholderKey(name);
    if (values.has(key)) throw new Refused({ reason: 'params_repeated', key }, 'params');
    values.set(key, value);
  }
  return values;
}

/** Contact values by number for a text's placeholders, empty for unknown numbers. No query if the text has none. */
export async function contactValues(
  sql: Sql,
  accountId: string,
  { pieces }: Wording,
  recipients: readonly Recipient[],
): Promise<(msisdn: string) => ReadonlyMap<string, string>> {
  if (!pieces.some(({ kind }) => kind === 'value')) return () => new Map();
  const contacts = await contactsOf(
    sql,
    accountId,
    recipients.map(({ msisdn }) => msisdn),
  );
  const values = new Map([...contacts].map(([msisdn, contact]) => [msisdn, valuesOf(contact)]));
  return (msisdn) => values.get(msisdn) ?? new Map<string, string>();
}

function valuesOf({ firstName, lastName, email, fields }: ContactValues): Map<string, string> {
  return new Map([
    ...Object.entries(fields).map(([name, value]): [string, string] => [placeholderKey(name), value]),
    ['imie', firstName ?? ''],
    ['nazwisko', lastName ?? ''],
    ['email', email ?? ''],
  ]);
}

/** Renders and measures one recipient's text. @throws Refused if it is blank or too long */
export function personalText(
  wording: Wording,
  recipient: Recipient,
  values: ReadonlyMap<string, string>,
  links: PersonalLinks,
): PersonalText {
  const { pieces, field } = wording;
  const text = writtenOut(wording, values, links, recipient.index);
  if (isBlank(text)) {
    // Blank as written, or only after its placeholders are filled in.
    const written = pieces.every(({ kind }) => kind === 'text');
    throw new Refused({ reason: written ? 'text_blank' : 'text_empty', index: recipient.index }, field);
  }
  return { text, ...measure(wording, text, recipient.index) };
}

/** Renders one recipient's text. @throws Refused if it must be GSM-7 and is not */
export function writtenOut(
  wording: Wording,
  values: ReadonlyMap<string, string>,
  links: PersonalLinks,
  index: number | null,
): string {
  const { escapeText } = rulesOf(wording.channel);
  return finished(wording, render(wording.pieces, { values, escapeText, ...links }), index);
}

function finished({ finish, field }: Wording, text: string, index: number | null): string {
  if (finish.normalize) return normalize(text);
  const found = finish.gsm7Only ? firstNonGsm7(text) : null;
  if (found !== null) throw new Refused({ reason: 'text_not_gsm7', ...found, index }, field);
  return text;
}

function measure({ channel, field, content }: Wording, text: string, index: number | null): Measure {
  const { maxParts: limit, longest, measure: measured } = rulesOf(channel);
  refuseLonger(text, longest, field);
  const found = measured({ text, content });
  if (found.parts > limit)
    throw new Refused({ reason: 'text_too_long', parts: found.parts, limit, index }, field);
  return found;
}
