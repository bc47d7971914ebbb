import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { asciiName } from '../../domain/email/address.ts';
import { returnPathOf } from '../../domain/email/dns.ts';
import { ID_BODY } from '../../domain/ids.ts';
import { certificates, host, ownSecret } from '../fields.ts';

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LOCAL = new RegExp(`^(?=.{1,64}$)${ATOM}(\\.${ATOM})*$`);
const LABELS = /^[\p{L}\p{N}\p{M}-]+(\.[\p{L}\p{N}\p{M}-]+)*$/u;
const HOST =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*(?![0-9]+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** ASCII dot-atom and A-labels (RFC 5890): nothing in it can be read as another command, parameter or recipient. Null when impossible. */
export function wireAddress(address: string): string | null {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  if (at < 1 || !LOCAL.test(local)) return null;
  const domain = wireDomain(address.slice(at + 1));
  return domain === null ? null : `${local}@${domain}`;
}

/** A domain in lower-case A-labels; null when it is invalid. */
export function wireDomain(domain: string): string | null {
  if (!LABELS.test(domain)) return null;
  const ascii = asciiName(domain);
  return ascii !== null && HOST.test(ascii) ? ascii : null;
}

// Hexadecimal, as mail servers may change the case of a local part: 80 bits take 20 of its 64 characters.
const MAC_BYTES = 10;
const BOUNCE_LOCAL = new RegExp(`^b-(${ID_BODY})-([0-9a-f]{${2 * MAC_BYTES}})$`);

/** The return path of one e-mail (VERP); it cannot be forged without having seen it. `domain` is in A-labels. */
export function returnPath(key: string, emailId: string, domain: string): string {
  const body = emailId.slice('em_'.length);
  const host = returnPathOf(domain);
  return `b-${body}-${macOf(key, body, host).toString('hex')}@${host}`;
}

/** The e-mail whose return path was made with any of `keys`; null for any other address. */
export function emailOfReturnPath(keys: readonly string[], address: string): string | null {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf('@');
  const [, body, mac] = BOUNCE_LOCAL.exec(lower.slice(0, at)) ?? [];
  if (body === undefined || mac === undefined) return null;
  const given = Buffer.from(mac, 'hex');
  const host = lower.slice(at + 1);
  const isOurs = keys.some((key) => timingSafeEqual(macOf(key, body, host), given));
  return isOurs ? `em_${body}` : null;
}

function macOf(key: string, body: string, host: string): Buffer {
  return createHmac('sha256', key).update(`return path ${body}@${host}`).digest().subarray(0, MAC_BYTES);
}

const BOUNCES = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):([0-9]{1,5})$/i;
const PORT_MAX = 65_535;

const hostName = z
  .string()
  .max(253)
  .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i, 'a host name');

const spfTerm = z
  .string()
  .max(200)
  .regex(
    /^(include:[a-z0-9._-]+|(a|mx)(:[a-z0-9._-]+)?(\/[0-9]{1,3})?|ip4:[0-9./]+|ip6:[0-9a-f:./]+)$/i,
    'a term of SPF, such as include:_spf.relay.example or ip4:192.0.2.1',
  );

/**
 * Settings of an SMTP route, without credentials.
 * - `security`: `starttls` is mandatory; `none` only for a relay on this machine, without a login
 * - `mailHost`: our name in EHLO, and the MX target of return paths. `spf`: further senders in the domains' SPF record
 * - `connections`: per worker process. `messagesPerConnection`: then it is reopened
 * - `connectSeconds`: connecting, TLS and login together. `responseSeconds`: timeout of each reply; a whole hand-over has four times that
 * - `bounces`: where we listen for bounces; absent: nowhere
 */
export const smtpSettings = z
  .strictObject({
    host,
    port: z.int().min(1).max(PORT_MAX).default(587),
    security: z.enum(['starttls', 'tls', 'none']).default('starttls'),
    tlsCa: certificates.optional(),
    tlsServerName: hostName.optional(),
    tlsInsecure: z.boolean().default(false),
    mailHost: hostName.regex(/\./, 'a whole host name'),
    spf: z.array(spfTerm).max(8).default([]),
    connections: z.int().min(1).max(20).default(4),
    messagesPerConnection: z.int().min(1).max(1000).default(100),
    connectSeconds: z.number().min(0.1).max(60).default(10),
    responseSeconds: z.number().min(0.1).max(300).default(60),
    bounces: z
      .string()
      .max(300)
      .refine((address) => listenAddress(address) !== null, 'an address and a port: 0.0.0.0:2525')
      .optional(),
  })
  .refine(({ security, host }) => security !== 'none' || isLoopback(host), {
    path: ['security'],
    message: 'must be starttls or tls, but for a relay on this machine',
  });

export type SmtpSettings = z.infer<typeof smtpSettings>;

export const smtpCredentials = z
  .strictObject({
    /** Both, or neither for a relay that knows our IP address. */
    user: z
      .string()
      .min(1)
      .max(256)
      .regex(/^\P{Cc}*$/u, 'no control characters')
      .optional(),
    password: z
      .string()
      .min(1)
      .max(512)
      .regex(/^\P{Cc}*$/u, 'no control characters')
      .optional(),
    returnPathKey: ownSecret,
    /** Still valid until `until` (epoch milliseconds). */
    former: z.strictObject({ returnPathKey: ownSecret, until: z.int() }).optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    path: ['user'],
    message: 'user and password go together',
  });

export type SmtpCredentials = z.infer<typeof smtpCredentials>;

/** Splits an address to listen on; null when it is invalid. */
export function listenAddress(address: string): { host: string; port: number } | null {
  const [, host, port] = BOUNCES.exec(address) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > PORT_MAX) return null;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host.toLowerCase() === 'localhost';
}
