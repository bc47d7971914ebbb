import { z } from 'zod';
import { callingHours } from '../kind.ts';
import { ownSecret } from '../fields.ts';
import { providerUrl, publicUrl } from '../http.ts';

const MAX_VALIDITY_MINUTES = 72 * 60;

/** How an error code of the provider is to be read, instead of the usual way: `later:30` means after 30 s. */
const reading = z
  .string()
  .regex(
    /^((throttled|later)(:[1-9][0-9]{0,3})?|refused|broken|unknown)$/,
    'must be throttled, later (both with seconds if wanted, "later:30"), refused, broken or unknown',
  );

/**
 * What there is to set about a route of the kind `smsapi`; nothing secret. Only `callbackUrl` has no default: without it
 * delivery reports come only where the provider's panel names our addresses.
 */
export const smsapiSettings = z
  .strictObject({
    /** Base address of the provider's interface. */
    url: providerUrl.default('https://api.smsapi.pl'),
    /** Tried where no connection to `url` comes about; SMSAPI.pl has `https://api2.smsapi.pl`. */
    backupUrl: providerUrl.optional(),
    /** Base address of our API as the provider sees it. */
    callbackUrl: publicUrl.optional(),
    /** Addresses that callbacks may come from; none: from anywhere, as the secret in their path is theirs alone. */
    callbackAddresses: z
      .array(z.union([z.ipv4(), z.ipv6()]))
      .max(100)
      .default([]),
    /** Named as the sender in place of the message's own, `2way` for instance. */
    sender: z.string().min(1).max(15).optional(),
    /** Priority messages are sent with `fast=1`, which the provider charges more for. */
    fastPriority: z.boolean().default(false),
    /**
     * When calls are made, Polish time, repeats included (https://www.smsapi.pl/docs/#19-kody-bledow, 51): one that is ordered
     * outside of them waits.
     */
    callingHours: callingHours.default('08:00-22:00'),
    /** Between two calls of a voice message that is not answered; the provider takes 300 to 7200 s. */
    callIntervalSeconds: z.int().min(300).max(7200).default(300),
    /** Requests that may be open at once per worker process. */
    window: z.int().min(1).max(100).default(20),
    /** Within this time a submit is answered, or it counts as unanswered. */
    responseSeconds: z.int().min(1).max(60).default(10),
    /** The shortest and the longest validity that the provider takes; others are moved to the nearer one. */
    validityMinMinutes: z.int().min(1).max(MAX_VALIDITY_MINUTES).default(60),
    validityMaxMinutes: z
      .int()
      .min(1)
      .max(MAX_VALIDITY_MINUTES)
      .default(MAX_VALIDITY_MINUTES - 10),
    /** `callback`: asked by `hlr.do`, answered by a callback; `sync`: asked by `hlrsync.do`, which answers at once. */
    lookups: z.enum(['callback', 'sync']).default('callback'),
    /** How single error codes are to be read. */
    errors: z.record(z.string().regex(/^[0-9]{1,5}$/), reading).default({}),
  })
  .refine(
    ({ validityMinMinutes, validityMaxMinutes }) => validityMinMinutes <= validityMaxMinutes,
    'validityMinMinutes must not be above validityMaxMinutes',
  );

export type SmsapiSettings = z.infer<typeof smsapiSettings>;

/** What is secret about a route of the kind `smsapi`. */
export const smsapiCredentials = z.strictObject({
  /** OAuth token of the provider's panel, with the rights `sms`, `mms`, `vms`, `hlr` and `profile`. */
  token: z.string().regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 visible ASCII characters'),
  /** Part of the addresses that the provider calls. */
  callbackSecret: ownSecret,
  /** The secret before, and until when (epoch milliseconds) its addresses are still listened to. */
  former: z.strictObject({ callbackSecret: ownSecret, until: z.number().int() }).optional(),
});

export type SmsapiCredentials = z.infer<typeof smsapiCredentials>;

/** What the provider may call, by what it brings. */
export const CALLBACK_PATHS = {
  reports: ':secret/reports',
  replies: ':secret/replies',
  lookups: ':secret/lookups',
} as const;

export type CallbackKind = keyof typeof CALLBACK_PATHS;
