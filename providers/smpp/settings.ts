import { z } from 'zod';
import { certificates, host } from '../fields.ts';

const MAX_RETRY_S = 86_400;

// C-octet string (3.1): 7-bit characters, ended by NUL.
const octets = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x20-\x7e]*$/, 'only printable ASCII characters');

const milliseconds = (max: number) => z.int().min(10).max(max);
const typeOfNumber = z.int().min(0).max(255);

const statusCode = z
  .string()
  .regex(/^(0x[0-9a-f]{1,8}|[0-9]{1,10})$/i, 'a command_status, as 0x0000000b or decimal');
const statusMeaning = z
  .string()
  .regex(
    /^(throttled|later)(:[1-9][0-9]{0,4})?$|^(refused|broken|unknown)$/,
    'throttled, later, refused, broken or unknown; seconds after a colon: later:30',
  )
  .refine((meaning) => Number(meaning.split(':')[1] ?? 0) <= MAX_RETRY_S, `at most ${MAX_RETRY_S} seconds`);

/**
 * Settings of an SMPP route, without credentials. Lengths as in SMPP 3.4, 5.2.
 * - `sessions`: per worker process; a transmitter and its receiver count as one. `window`: unanswered submits per session
 * - `responseSeconds`: then a submit counts as unanswered. `bindSeconds`: for connecting, TLS and binding together
 * - `ids`: how the id in a delivery report relates to that in the submit's answer
 * - `longReports`: whether the SMSC reports on each part of a long message, or on one part for all
 * - `defaultAlphabet`: what data_coding 0 means to this SMSC, in both directions
 * - `priorityFlag`: of priority messages; all others have 0. `errors`: what a command_status means to this SMSC, if not the standard
 */
export const smppSettings = z
  .strictObject({
    host,
    port: z.int().min(1).max(65_535).default(2775),
    tls: z.boolean().default(false),
    tlsCa: certificates.optional(),
    tlsServerName: z.string().max(253).optional(),
    tlsInsecure: z.boolean().default(false),
    bind: z.enum(['transceiver', 'pair']).default('transceiver'),
    sessions: z.int().min(1).max(16).default(1),
    window: z.int().min(1).max(1000).default(10),
    systemType: octets(12).default(''),
    addressRange: octets(40).default(''),
    serviceType: octets(5).default(''),
    enquireLinkSeconds: z.number().min(0.1).max(3600).default(30),
    responseSeconds: z.number().min(0.1).max(120).default(10),
    bindSeconds: z.number().min(0.1).max(120).default(10),
    reconnectMinMs: milliseconds(60_000).default(1_000),
    reconnectMaxMs: milliseconds(3_600_000).default(60_000),
    longMessages: z.enum(['udh', 'sar', 'payload']).default('udh'),
    ids: z.enum(['exact', 'insensitive', 'hex-answer', 'decimal-answer']).default('exact'),
    longReports: z.enum(['each-part', 'one-part']).default('each-part'),
    validity: z.enum(['absolute', 'relative', 'none']).default('absolute'),
    priorityFlag: z.int().min(0).max(3).default(1),
    defaultAlphabet: z.enum(['gsm7', 'latin1']).default('gsm7'),
    senderTon: typeOfNumber.optional(),
    senderNpi: typeOfNumber.optional(),
    destinationTon: typeOfNumber.optional(),
    destinationNpi: typeOfNumber.optional(),
    errors: z.record(statusCode, statusMeaning).default({}),
  })
  .refine((settings) => settings.reconnectMaxMs >= settings.reconnectMinMs, {
    path: ['reconnectMaxMs'],
    message: 'at least reconnectMinMs',
  });

export type SmppSettings = z.infer<typeof smppSettings>;

/** SMPP allows a system_id of 15 characters and a password of 8; some SMSCs issue longer ones. */
export const smppCredentials = z.strictObject({ systemId: octets(64).min(1), password: octets(64) });

export type SmppCredentials = z.infer<typeof smppCredentials>;
