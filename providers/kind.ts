import { z } from 'zod';
import { type CallingHours, parseSendWindow } from '../domain/sendWindow.ts';
import type { LookupAnswer } from '../domain/submission.ts';
import type { SimulatorMail } from './simulator/email.ts';
import type { SimulatorStore } from './simulator/provider.ts';
import type { Channel } from '../domain/channelDeclaration.ts';
import type { RouteTraffic, RouteTraits } from '../domain/routing.ts';
import type { Callbacks } from './callbacks.ts';
import type { EmailGate, EmailKind } from './email.ts';
import type { Provider } from './provider.ts';

/** How what is typed for an option is read; what does not fit is refused before anything is asked of the kind. */
export type OptionReading =
  | { as: 'text' }
  /** The content of a file, or of standard input. */
  | { as: 'file' }
  | { as: 'yes or no' }
  | { as: 'number'; min: number; max: number }
  | { as: 'word'; words: [string, ...string[]] };

/** A field that staff can type by itself, beside the JSON that takes them all. */
interface KindOption {
  /** What stands for the value in the help: `HOST`. */
  placeholder: string;
  about: string;
  read: OptionReading;
}

/**
 * By the field that each fills. Kinds that have one of the same name read it the same way; none has a name that `routes add`
 * takes of every route (`name`, `kind`, `rate` …).
 */
export type KindOptions = Readonly<Record<string, KindOption>>;

/** A setting: when a route makes calls, `HH:MM-HH:MM` in Polish time; `00:00-24:00` is any time. */
export const callingHours = z
  .string()
  .refine((hours) => parseSendWindow(hours) !== null, 'must be HH:MM-HH:MM, at least 15 minutes');

/** The answers to look-ups that came as callbacks. */
export interface LookupAnswers {
  /** The answer with the provider's id, once it has come; null before. */
  find(route: string, providerId: string): Promise<LookupAnswer | null>;
}

/** What providers remember outside themselves. */
export interface ProviderStores {
  /** Each simulated route has its own. */
  simulator: (route: string) => SimulatorStore & SimulatorMail;
  lookups: LookupAnswers;
}

/** What came of asking a provider for a sign of life. Words for staff, without secrets. */
export type RouteTest = { ok: true; answer: string } | { ok: false; problem: string };

/** What is left of our account at a provider. */
export interface ProviderBalance {
  /** PLN. */
  balance: number;
  username: string | null;
}

/** How staff hand over the credentials of a kind. */
interface SecretFields {
  /** What a secret that is not written as JSON stands for: `password`. */
  bare: string;
  /**
   * What this installation makes itself, for the provider to call us with. The credentials' schema has it, and, for the time in
   * which the one before is still good, `former: { [own], until }`.
   */
  own?: string;
  /** What of the credentials is not secret. */
  options?: KindOptions;
}

/** Of which route a provider is made. */
export interface RoutePlan<Settings, Credentials> {
  /** The route's name. */
  name: string;
  settings: Settings;
  credentials: Credentials;
}

/** Where a provider runs. */
export interface ProviderContext {
  stores: ProviderStores;
  /** Takes what goes wrong by itself, outside any call. */
  onError: (error: unknown) => void;
}

/** What a provider is made of. */
export type ProviderOptions<Settings, Credentials> = RoutePlan<Settings, Credentials> &
  Pick<ProviderContext, 'onError'>;

/**
 * All there is to know of a kind of provider. Settings and credentials are as its schemas make them. The provider's own code is
 * loaded when it is first wanted: what only reads settings or callbacks has no use for it.
 */
interface KindDeclaration<Settings extends Record<string, unknown>, Credentials> {
  /** Stored with each route of the kind. */
  name: string;
  /** The messages that its routes can carry. */
  channels: readonly Channel[];
  /** How they carry e-mail; absent: not at all. */
  email?: EmailKind<Settings, Credentials>;
  /** Whether they answer look-ups of numbers as well. */
  looksUp: boolean;
  /** When its routes make calls; absent or null: at any time. */
  callingHours?: (settings: Settings) => CallingHours | null;
  /** It reaches no phone. */
  simulated?: true;
  /** Its provider reports what was not delivered, and nothing of the rest: no reports are no sign of a fault. */
  reportsFailuresAlone?: true;
  settings: z.ZodType<Settings>;
  /** The settings that nearly every route needs. */
  options: KindOptions;
  /** `z.null()` for a kind that has none. */
  credentials: z.ZodType<Credentials>;
  /** Absent: it has no credentials. */
  secret?: SecretFields;
  /** Absent: it calls nobody. */
  callbacks?: Callbacks<Settings, Credentials>;
  /** Makes the provider of a route; it does nothing before its start. */
  open(plan: RoutePlan<Settings, Credentials>, around: ProviderContext): Promise<Provider>;
  /** Asks for a sign of life now, from this process; sends nothing. */
  test: (settings: Settings, credentials: Credentials) => Promise<RouteTest>;
  /** Asks what is left of our account at the provider; null where it does not say. Absent: it has no such thing. */
  balance?: (settings: Settings, credentials: Credentials) => Promise<ProviderBalance | null>;
}

/** A kind of provider for whoever does not know which: settings and credentials are as stored. */
export interface ProviderKind {
  readonly name: string;
  readonly traits: RouteTraits;
  /** Nothing is reported of what was delivered. */
  readonly reportsFailuresAlone: boolean;
  /** Null also for settings that cannot be read. */
  callingHours(stored: unknown): CallingHours | null;
  readonly settings: z.ZodType<Record<string, unknown>>;
  readonly options: KindOptions;
  readonly credentials: z.ZodType;
  readonly secret: SecretFields | null;
  readonly callbacks: Callbacks<unknown, unknown> | null;
  /** How its routes carry e-mail; null: not at all. Its functions throw ZodError when settings or credentials cannot be used. */
  readonly email: EmailKind<unknown, unknown> | null;
  /** @throws ZodError when settings or credentials cannot be used */
  open(plan: RoutePlan<unknown, unknown>, around: ProviderContext): Promise<Provider>;
  /** @throws ZodError when settings or credentials cannot be used */
  test(settings: unknown, credentials: unknown): Promise<RouteTest>;
  /** Absent: it has no such thing. @throws ZodError when settings or credentials cannot be used */
  readonly balance?: (settings: unknown, credentials: unknown) => Promise<ProviderBalance | null>;
}

/** Makes a kind from its declaration. */
export function providerKind<Settings extends Record<string, unknown>, Credentials>(
  declared: KindDeclaration<Settings, Credentials>,
): ProviderKind {
  const { name, channels, looksUp, simulated = false, settings, options, credentials, secret } = declared;
  const { callbacks, email, reportsFailuresAlone = false } = declared;
  const carries: RouteTraffic[] = [...channels];
  if (email !== undefined) carries.push('email');
  if (looksUp) carries.push('hlr');
  return {
    ...{ name, settings, options, credentials },
    traits: { carries, simulated },
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
    async open(plan, around) {
      const read = {
        settings: settings.parse(plan.settings),
        credentials: credentials.parse(plan.credentials),
      };
      return declared.open({ name: plan.name, ...read }, around);
    },
    test: parsed(declared.test),
    ...(declared.balance && { balance: parsed(declared.balance) }),
  };

  /** The same for settings and credentials as they are stored. */
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
      ...(suppressions && {
        suppressions: { remove: parsed(suppressions.remove) },
      }),
      ...(callback && {
        callback: {
          signed: async (secrets, call) => callback.signed(credentials.parse(secrets), call),
          read: (call) => callback.read(call),
        },
      }),
    };
  }
}

/** A provider that carries e-mail and nothing else. @param rest what it does beside handing over */
export function emailOnly(
  name: string,
  email: EmailGate,
  rest: Pick<Provider, 'start' | 'state' | 'stop'>,
): Provider {
  return {
    ...{ name, email, takesWhole: true },
    // No message is routed to it.
    submit: () => Promise.resolve({ kind: 'broken', code: 'no_messages' }),
    lookup: () => Promise.resolve({ kind: 'failed' }),
    ...rest,
  };
}
