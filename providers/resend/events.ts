import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import { isId, storable } from '../../domain/ids.ts';
import type { CallbackCall } from '../callbacks.ts';
import { isRecord, parsed } from '../http.ts';
import { ID_TAG, type ResendCredentials } from './settings.ts';

const BODY_MAX = 256 * 1024;
const PAYLOAD_MAX = 64 * 1024;
const DEPTH_MAX = 11;
const KEY_MAX = 200;
const ADDRESSES_MAX = 100;
const ADDRESS_MAX = 320;
const PROVIDER_ID_MAX = 100;
const EVENT_ID = /^[\x21-\x7e]{1,200}$/;
const TIMESTAMP = /^[0-9]{1,12}$/;
const SIGNATURE = /(?:^| )v1,([A-Za-z0-9+/]{43}=)(?= |$)/g;
const TOLERANCE_MS = 300_000;
const EARLIEST = Date.UTC(2020, 0, 1);
const LATEST_MS = 86_400_000;

const KINDS: Readonly<Record<string, ProviderEmailEvent['kind']>> = {
  'email.sent': 'sent',
  'email.delivered': 'delivered',
  'email.delivery_delayed': 'delayed',
  'email.bounced': 'bounced',
  'email.complained': 'complained',
  'email.opened': 'opened',
  'email.clicked': 'clicked',
  'email.failed': 'failed',
  'email.suppressed': 'suppressed',
};

/**
 * Whether the webhook was signed within five minutes (https://resend.com/docs/webhooks/verify-webhooks-requests). There are several
 * signatures while the secret is rotated. The body is read only if the headers are well-formed.
 */
export async function isSigned({ webhookSecret }: ResendCredentials, call: CallbackCall): Promise<boolean> {
  const signed = signedHeaders(call.headers);
  if (webhookSecret === undefined || signed === null) return false;
  if (Math.abs(Date.now() - Number(signed.timestamp) * 1000) > TOLERANCE_MS) return false;
  const body = await call.body();
  return body.length <= BODY_MAX && hasValidSignature(webhookSecret, signed, body);
}

type SignedHeaders = Record<'id' | 'timestamp' | 'signature', string>;

function hasValidSignature(
  secret: string,
  { id, timestamp, signature }: SignedHeaders,
  body: Buffer,
): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const right = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signaturesIn(signature).some((given) => timingSafeEqual(given, right));
}

// There is only version v1; each signature has 32 bytes.
function signaturesIn(header: string): Buffer[] {
  return [...header.matchAll(SIGNATURE)].map(([, base64 = '']) => Buffer.from(base64, 'base64'));
}

function signedHeaders(headers: IncomingHttpHeaders): SignedHeaders | null {
  const { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature } = headers;
  if (typeof id !== 'string' || !EVENT_ID.test(id)) return null;
  if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp)) return null;
  if (typeof signature !== 'string' || signature.search(SIGNATURE) < 0) return null;
  return { id, timestamp, signature };
}

/** Reads a webhook (https://resend.com/docs/webhooks/event-types). Null: no event; [] for unknown types, or they would be retried. */
export async function readEvents(call: CallbackCall): Promise<readonly ProviderEmailEvent[] | null> {
  const signed = signedHeaders(call.headers);
  const body = await call.body();
  if (signed === null || body.length > BODY_MAX) return null;
  const json = parsed(body);
  if (!isRecord(json) || typeof json['type'] !== 'string') return null;
  const { type, created_at: createdAt, data } = json;
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind === undefined) return [];
  if (!isRecord(data)) return null;
  const emailId = ourIdOf(data['tags']);
  const providerEmailId = shortText(data['email_id']);
  if (emailId === null && providerEmailId === null) return null;
  return [
    {
      eventId: signed.id,
      emailId,
      providerEmailId,
      kind,
      permanent: kind === 'bounced' ? isPermanent(data['bounce']) : null,
      addresses: addressesOf(data['to']),
      namesAllTo: true,
      at: timeOf(createdAt) ?? new Date(Number(signed.timestamp) * 1000),
      payload: payloadOf(json),
    },
  ];
}

// Tags come as an object; the documentation also shows a list.
function ourIdOf(tags: unknown): string | null {
  const named: unknown = Array.isArray(tags)
    ? tags.filter(isRecord).find(({ name }) => name === ID_TAG)?.['value']
    : isRecord(tags) && Object.hasOwn(tags, ID_TAG)
      ? tags[ID_TAG]
      : null;
  return typeof named === 'string' && isId('em', named) ? named : null;
}

function shortText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > PROVIDER_ID_MAX) return null;
  return storable(value);
}

// `Permanent`, `Transient` or `Undetermined`: only the first says anything about later e-mails.
function isPermanent(bounce: unknown): boolean {
  const type = isRecord(bounce) ? bounce['type'] : null;
  return typeof type === 'string' && type.toLowerCase() === 'permanent';
}

function addressesOf(to: unknown): string[] {
  const listed: unknown[] = Array.isArray(to) ? to : [to];
  return listed
    .filter((one) => typeof one === 'string' && one !== '' && one.length <= ADDRESS_MAX)
    .slice(0, ADDRESSES_MAX)
    .map((one) => storable(one as string));
}

function timeOf(value: unknown): Date | null {
  const at = typeof value === 'string' && value.length <= 40 ? Date.parse(value) : NaN;
  return at >= EARLIEST && at <= Date.now() + LATEST_MS ? new Date(at) : null;
}

function payloadOf(body: Record<string, unknown>): Record<string, unknown> {
  const whole = sanitized(body, 1) as Record<string, unknown>;
  const fits = Buffer.byteLength(JSON.stringify(whole)) <= PAYLOAD_MAX;
  return fits ? whole : { type: whole['type'], shortened: true };
}

// Limits the depth, and replaces characters that PostgreSQL cannot store.
function sanitized(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((one) => sanitized(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [storable(key).slice(0, KEY_MAX), sanitized(one, depth + 1)]),
  );
}
