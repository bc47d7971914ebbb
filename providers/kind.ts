import { z } from 'zod';
import { type CallingHours, parseSendWindow } from '../domain/sendWindow.ts';
import type { LookupAnswer } from '../domain/submission.ts';
import type { SimulatorMail } from './simulator/email.ts';
import type { SimulatorStore } from './simulator/provider.ts';
import type { Channel } from '../domain/channelDeclaration.ts';
import type { RouteTraffic, RouteTraits } from '../domain/routing.ts';
import type { Callbacks } from './callbacks.ts';
import type { EmailProvider, EmailKind } from './email.ts';
import type { Provider } from './provider.ts';

/** How the value of a command-line option is parsed; invalid values are refused before the kind sees them. */
export type OptionReading =
  | { as: 'text' }
  | { as: 'file' }
  | { as: 'yes or no' }
  | { as: 'number'; min: number; max: number }
  | { as: 'word'; words: [string, ...string[]] };

interface KindOption {
  placeholder: string;
  about: string;
  read: OptionReading;
}

/** By field. Kinds that share a name parse it the same way; no name may clash with an option of `routes add` (`name`, `kind`, `rate` …). */
export type KindOptions = Readonly<Record<string, KindOption>>;

/** A setting: when a route makes calls, `HH:MM-HH:MM` in Polish time; `00:00-24:00` is any time. */
export const callingHours = z
  .string()
  .refine((hours) => parseSendWindow(hours) !== null, 'must be HH:MM-HH:MM, at least 15 minutes');

export interface LookupAnswers {
  find(route: string, providerId: string): Promise<LookupAnswer | null>;
}

export interface ProviderStores {
  simulator: (route: string) => SimulatorStore & SimulatorMail;
  lookups: LookupAnswers;
}

/** Result of testing a route. The texts are for staff, without secrets. */
export type RouteTest = { ok: true; answer: string } | { ok: false; problem: string };

export interface ProviderBalance {
  /** PLN. */
  balance: number;
  username: string | null;
}

interface SecretFields {
  /** Field for a secret that is not written as JSON: `password`. */
  bare: string;
  /** Field of a secret that we generate for the provider's callbacks; the schema also has `former: { [own], until }`, the previous one. */
  own?: string;
  options?: KindOptions;
}

export interface RoutePlan<Settings, Credentials> {
  name: string;
  settings: Settings;
  credentials: Credentials;
}

export interface ProviderContext {
  stores: ProviderStores;
  onError: (error: unknown) => void;
}

export type ProviderOptions<Settings, Credentials> = RoutePlan<Settings, Credentials> &
  Pick<ProviderContext, 'onError'>;

// The provider's code is imported on first use: processes that only read settings or callbacks do not need it.
interface KindDeclaration<Settings extends Record<string, unknown>, Credentials> {
  name: string;
  channels: readonly Channel[];
  email?: EmailKind<Settings, Credentials>;
  looksUp: boolean;
  /** Parts of a message that it takes; absent: as many as there may be. */
  maxParts?: number;
  callingHours?: (settings: Settings) => CallingHours | null;
  /** Reaches no phone. */
  simulated?: true;
  /** Only failures are reported, so missing delivery reports are no sign of a fault. */
  reportsFailuresAlone?: true;
  settings: z.ZodType<Settings>;
  options: KindOptions;
  credentials: z.ZodType<Credentials>;
  secret?: SecretFields;
  callbacks?: Callbacks<Settings, Credentials>;
  /** It is inactive until `start`. */
  open(plan: RoutePlan<Settings, Credentials>, context: ProviderContext): Promise<Provider>;
  /** Explains a code of an answer to staff; absent: its codes are words. */
  describeCode?: (code: string) => Promise<string>;
  /** Tests the connection from this process; sends no message. */
  test: (settings: Settings, credentials: Credentials) => Promise<RouteTest>;
  /** Null when the provider does not say. Absent: not supported. */
  balance?: (settings: Settings, credentials: Credentials) => Promise<ProviderBalance | null>;
}

/** A provider kind with its types erased: settings and credentials are as stored. Its functions throw ZodError for invalid ones. */
export interface ProviderKind {
  readonly name: string;
  readonly traits: RouteTraits;
  readonly reportsFailuresAlone: boolean;
  callingHours(stored: unknown): CallingHours | null;
  readonly settings: z.ZodType<Record<string, unknown>>;
  readonly options: KindOptions;
  readonly credentials: z.ZodType;
  readonly secret: SecretFields | null;
  readonly callbacks: Callbacks<unknown, unknown> | null;
  /** Null: it carries no e-mail. */
  readonly email: EmailKind<unknown, unknown> | null;
  open(plan: RoutePlan<unknown, unknown>, context: ProviderContext): Promise<Provider>;
  describeCode(code: string): Promise<string>;
  test(settings: unknown, credentials: unknown): Promise<RouteTest>;
  readonly balance?: (settings: unknown, credentials: unknown) => Promise<ProviderBalance | null>;
}

/** Creates a kind from its declaration. */
export function providerKind<Settings extends Record<string, unknown>, Credentials>(
  declared: KindDeclaration<Settings, Credentials>,
): ProviderKind {
  const { name, channels, looksUp, simulated = false, settings, options, credentials, secret } = declared;
  const { callbacks, email, maxParts, reportsFailuresAlone = false } = declared;
  const carries: RouteTraffic[] = [...channels];
  if (email !== undefined) carries.push('email');
  if (looksUp) carries.push('hlr');
  return {
    name,
    settings,
    options,
    credentials,
    traits: { carries, simulated, ...(maxParts !== undefined && { maxParts }) },
    reportsFailuresAlone,
    email: email === undefined ? null : storedEmail(email),
    callingHours(stored) {
      const read = settings.safeParse(stored);
      return read.success ? (declared.callingHours?.(read.data) ?? null) : null;
    },
    secret: secret ?? null,
    callbacks:
      callbacks === undefined
        ? null
        : {
            base: (stored) => callbacks.base(settings.parse(stored)),
            guard: (stored, secrets) => callbacks.guard(settings.parse(stored), credentials.parse(secrets)),
            calls: callbacks.calls,
          },
    async open(plan, context) {
      const read = {
        settings: settings.parse(plan.settings),
        credentials: credentials.parse(plan.credentials),
      };
      return declared.open({ name: plan.name, ...read }, context);
    },
    describeCode: declared.describeCode ?? ((code) => Promise.resolve(code)),
    test: parsed(declared.test),
    ...(declared.balance && { balance: parsed(declared.balance) }),
  };

  // Makes a function accept settings and credentials as stored.
  function parsed<Rest extends unknown[], Done>(
    work: (settings: Settings, credentials: Credentials, ...rest: Rest) => Promise<Done>,
  ) {
    return async (stored: unknown, secrets: unknown, ...rest: Rest): Promise<Done> =>
      work(settings.parse(stored), credentials.parse(secrets), ...rest);
  }

  function storedEmail({
    domains,
    suppressions,
    callback,
  }: EmailKind<Settings, Credentials>): EmailKind<unknown, unknown> {
    return {
      domains:
        domains.by === 'us'
          ? { by: 'us', records: (stored, domain) => domains.records(settings.parse(stored), domain) }
          : {
              by: 'provider',
              add: parsed(domains.add),
              check: parsed(domains.check),
              remove: parsed(domains.remove),
            },
      ...(suppressions && { suppressions: { remove: parsed(suppressions.remove) } }),
      ...(callback && {
        callback: {
          signed: async (secrets, call) => callback.signed(credentials.parse(secrets), call),
          read: (call) => callback.read(call),
        },
      }),
    };
  }
}

/** A provider that carries only e-mail. @param rest everything besides submitting */
export function emailOnly(
  name: string,
  email: EmailProvider,
  rest: Pick<Provider, 'start' | 'state' | 'stop'>,
): Provider {
  return {
    name,
    email,
    takesWhole: true,
    // No message is routed here.
    submit: () => Promise.resolve({ kind: 'broken', code: 'no_messages' }),
    lookup: () => Promise.resolve({ kind: 'failed' }),
    ...rest,
  };
}
