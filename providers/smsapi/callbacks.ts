import { createHash } from 'node:crypto';
import { storable } from '../../domain/ids.ts';
import { isFinalReport, type NetworkReply } from '../../domain/incoming.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { parseAddress } from '../../domain/msisdn.ts';
import { type CallbackCall, type CallbackContent, type CallbackFields, readFields } from '../callbacks.ts';
import { findingOf } from './http.ts';
import { referenceOf } from './request.ts';
import type { CallbackKind } from './settings.ts';
import { stateOf } from './answers.ts';

const REPORTS_MAX = 100;
const PROVIDER_ID = /^[\x21-\x2b\x2d-\x7e]{1,64}$/;
// 255 parts of 153 septets: no SMS is longer.
const TEXT_MAX = 39_015;
const ADDRESS_MAX = 40;
const DETAILS_MAX = 300;
// Fields of a report that are stored as received; none is personal data.
const DETAILS = ['status', 'status_name', 'sent_at', 'donedate', 'mcc', 'mnc', 'points'] as const;

/** Reads a callback of the given kind; null when it is not one. */
export async function readContent(what: CallbackKind, call: CallbackCall): Promise<CallbackContent | null> {
  const fields = await readFields(call);
  return fields === null ? null : contentOf[what](fields);
}

const contentOf: Readonly<Record<CallbackKind, (fields: CallbackFields) => CallbackContent | null>> = {
  reports(fields) {
    const reports = readReports(fields);
    return reports === null ? null : { kind: 'reports', reports };
  },
  replies(fields) {
    const reply = readReply(fields);
    return reply === null ? null : { kind: 'replies', replies: [reply] };
  },
  lookups: readLookup,
};

/**
 * Reads delivery reports (https://www.smsapi.pl/docs/#9-raporty-callback); null when this is no such callback. Each field is a
 * comma-separated list with one value per report; only ids and statuses are required.
 */
export function readReports(fields: CallbackFields): DeliveryReport[] | null {
  const ids = valuesOf(fields, 'MsgId');
  const statuses = fields.has('status') ? valuesOf(fields, 'status') : valuesOf(fields, 'status_name');
  if (ids.length === 0 || ids.length > REPORTS_MAX || statuses.length !== ids.length) return null;
  if (!ids.every((id) => PROVIDER_ID.test(id))) return null;
  const ofReport = (name: string, index: number): string | null => {
    const values = valuesOf(fields, name);
    return values.length === ids.length ? (values[index] ?? null) : null;
  };
  return ids.map((id, index) => {
    const status = statuses[index] ?? '';
    // An unlisted status says nothing about the message's end.
    const state = stateOf(status) ?? 'unknown';
    const details = DETAILS.map((name) => `${name}=${ofReport(name, index) ?? ''}`).join(' ');
    const reference = referenceOf(ofReport('idx', index) ?? '');
    return {
      providerMessageId: id,
      reference,
      // Others may use the provider's account to write to the same phones: only our own reports are matched by phone.
      phone: reference === null ? null : parseAddress(ofReport('to', index) ?? ''),
      state,
      errorCode: isFinalReport(state) && state !== 'delivered' ? status.slice(0, 20) : null,
      details: details.replace(/[^\x20-\x7e]/g, '?').slice(0, DETAILS_MAX),
    };
  });
}

/**
 * Reads a reply (https://www.smsapi.pl/docs/#10-odbiory-wiadomosci); null when this is none. A reply has no id (`MsgId` is that of the
 * message it answers), so all of its fields together identify it.
 */
export function readReply(fields: CallbackFields): NetworkReply | null {
  const from = fields.get('sms_from')?.trim() ?? '';
  const to = fields.get('sms_to')?.trim() ?? '';
  const text = fields.get('sms_text');
  if (text === undefined || text.length > TEXT_MAX) return null;
  if (from === '' || from.length > ADDRESS_MAX || to.length > ADDRESS_MAX) return null;
  const identity = [from, to, text, fields.get('sms_date') ?? '', fields.get('MsgId') ?? ''];
  return {
    providerReference: createHash('sha256').update(JSON.stringify(identity)).digest('base64url'),
    from: addressOf(from),
    to: to === '' ? null : addressOf(to),
    text: storable(text),
  };
}

/** Reads the result of a look-up (https://www.smsapi.pl/docs/#11-hlr); null when this is no such callback. */
export function readLookup(fields: CallbackFields): (CallbackContent & { kind: 'lookup' }) | null {
  const providerId = fields.get('id') ?? fields.get('MsgId') ?? '';
  if (!PROVIDER_ID.test(providerId) || (!fields.has('status') && !fields.has('info'))) return null;
  const answer = { kind: 'found' as const, ...findingOf(Object.fromEntries(fields)) };
  return { kind: 'lookup', providerId, answer };
}

function valuesOf(fields: CallbackFields, name: string): string[] {
  const value = fields.get(name);
  if (value === undefined) return [];
  return value.split(',', REPORTS_MAX + 1).map((one) => one.trim());
}

// The provider writes numbers without plus; anything else is kept as received, for staff.
function addressOf(address: string): string {
  return parseAddress(address) ?? storable(address);
}
