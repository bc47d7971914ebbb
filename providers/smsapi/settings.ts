import { z } from 'zod';
import { callingHours } from '../kind.ts';
import { ownSecret } from '../fields.ts';
import { providerUrl, publicUrl } from '../http.ts';

// The provider splits into at most ten parts (https://www.smsapi.pl/docs/#2-pojedynczy-sms, `max_parts`).
export const MAX_PARTS = 10;
const MAX_VALIDITY_MINUTES = 72 * 60;

const reading = z
  .string()
  .regex(
    /^((throttled|later)(:[1-9][0-9]{0,3})?|refused|broken|unknown)$/,
    'must be throttled, later (both with seconds if wanted, "later:30"), refused, broken or unknown',
  );

/** Without `callbackUrl`, delivery reports come only if the provider's panel has our URLs. */
export const smsapiSettings = z
  .strictObject({
    url: providerUrl.default('https://api.smsapi.pl'),
    /** Used when `url` cannot be reached; SMSAPI.pl has `https://api2.smsapi.pl`. */
    backupUrl: providerUrl.optional(),
    callbackUrl: publicUrl.optional(),
    /** IP addresses that may send callbacks; empty: any, as the secret in the path authenticates them. */
    callbackAddresses: z
      .array(z.union([z.ipv4(), z.ipv6()]))
      .max(100)
      .default([]),
    /** Replaces the message's own sender: `2way`, for example. */
    sender: z.string().min(1).max(15).optional(),
    fastPriority: z.boolean().default(false),
    /** Polish time, repeats included; a call ordered at another time waits (https://www.smsapi.pl/docs/#19-kody-bledow, 51). */
    callingHours: callingHours.default('08:00-22:00'),
    /** Between two calls of an unanswered voice message; the provider accepts 300 to 7200 s. */
    callIntervalSeconds: z.int().min(300).max(7200).default(300),
    window: z.int().min(1).max(100).default(20),
    /** After this time a submit counts as unanswered. */
    responseSeconds: z.int().min(1).max(60).default(10),
    /** The range of validity that the provider accepts; other values are clamped. */
    validityMinMinutes: z.int().min(1).max(MAX_VALIDITY_MINUTES).default(60),
    validityMaxMinutes: z
      .int()
      .min(1)
      .max(MAX_VALIDITY_MINUTES)
      .default(MAX_VALIDITY_MINUTES - 10),
    /** `callback`: `hlr.do`, answered by a callback; `sync`: `hlrsync.do`, answered directly. */
    lookups: z.enum(['callback', 'sync']).default('callback'),
    errors: z.record(z.string().regex(/^[0-9]{1,5}$/), reading).default({}),
  })
  .refine(
    ({ validityMinMinutes, validityMaxMinutes }) => validityMinMinutes <= validityMaxMinutes,
    'validityMinMinutes must not be above validityMaxMinutes',
  );

export type SmsapiSettings = z.infer<typeof smsapiSettings>;

export const smsapiCredentials = z.strictObject({
  /** OAuth token from the provider's panel, with the rights `sms`, `mms`, `vms`, `hlr` and `profile`. */
  token: z.string().regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 visible ASCII characters'),
  callbackSecret: ownSecret,
  /** Still valid until `until` (epoch milliseconds). */
  former: z.strictObject({ callbackSecret: ownSecret, until: z.number().int() }).optional(),
});

export type SmsapiCredentials = z.infer<typeof smsapiCredentials>;

export const CALLBACK_PATHS = {
  reports: ':secret/reports',
  replies: ':secret/replies',
  lookups: ':secret/lookups',
} as const;

export type CallbackKind = keyof typeof CALLBACK_PATHS;
