import type { z } from 'zod';
import type { RouteKind } from '../../../domain/routing.ts';
import { storable } from '../../../domain/inbound.ts';
import { printable } from '../printable.ts';
import { invalidArgument, refused } from '../problems.ts';

/** What came of asking an operator or provider. */
export type RouteTest = { ok: true; answer: string } | { ok: false; problem: string };

/** What the command line knows of one kind of route. */
interface KindOfRoute {
  settings: z.ZodType<Record<string, unknown>>;
  /** Null: it has none. */
  credentials: z.ZodType<Record<string, unknown>> | null;
  /** What a secret that is not written as JSON stands for. */
  bareSecret?: string;
  /** The rest of the credentials that this installation makes itself. */
  ownSecret?: string;
  /** The addresses that the provider is to call, by what for; they hold the own secret. Until when those before are good. */
  callbacks?(route: string, settings: unknown, credentials: unknown): Record<string, string>;
  /** Asks for a sign of life now, from this process. */
  test(settings: unknown, credentials: unknown): Promise<RouteTest>;
}

/** Loads what belongs to a kind, and no more: a command about one route has no use for all providers. */
export async function kindOfRoute(kind: RouteKind): Promise<KindOfRoute> {
  switch (kind) {
    case 'smpp': {
      const { smppCredentials, smppSettings } = await import('../../../providers/smpp/settings.ts');
      return {
        settings: smppSettings,
        credentials: smppCredentials,
        bareSecret: 'password',
        async test(settings, credentials) {
          const { testSmppRoute } = await import('../../../providers/smpp/provider.ts');
          const tested = await testSmppRoute(
            smppSettings.parse(settings),
            smppCredentials.parse(credentials),
          );
          return tested.ok
            ? { ok: true, answer: `bound to ${tested.smscSystemId || 'an SMSC without a name'}` }
            : tested;
        },
      };
    }
    case 'smsapi': {
      const { CALLBACK_KINDS, callbackAddress, smsapiCredentials, smsapiSettings } =
        await import('../../../providers/smsapi/settings.ts');
      return {
        settings: smsapiSettings,
        credentials: smsapiCredentials,
        bareSecret: 'token',
        ownSecret: 'callbackSecret',
        callbacks(route, settings, credentials) {
          const { callbackUrl = '' } = smsapiSettings.parse(settings);
          const secrets = smsapiCredentials.parse(credentials);
          const addresses = CALLBACK_KINDS.map((what) => [
            `callback_${what}`,
            callbackAddress(callbackUrl, route, secrets, what),
          ]);
          const until = secrets.former?.until ?? 0;
          const former = until > Date.now() ? { former_good_until: new Date(until).toISOString() } : {};
          return { ...(Object.fromEntries(addresses) as Record<string, string>), ...former };
        },
        async test(settings, credentials) {
          const { testSmsapiRoute } = await import('../../../providers/smsapi/provider.ts');
          const tested = await testSmsapiRoute(
            smsapiSettings.parse(settings),
            smsapiCredentials.parse(credentials),
          );
          return tested.ok ? { ok: true, answer: `account ${tested.account}` } : tested;
        },
      };
    }
    case 'simulator': {
      const { z } = await import('zod');
      return {
        settings: z.strictObject({}),
        credentials: null,
        test: () => Promise.resolve({ ok: true, answer: 'simulated: always there, reaches no phone' }),
      };
    }
  }
}

/**
 * The settings with the kind's defaults filled in.
 * @throws AdminError invalid_argument naming the first that cannot be used
 */
export async function checkSettings(
  kind: RouteKind,
  settings: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const checked = (await kindOfRoute(kind)).settings.safeParse(settings);
  if (checked.success) {
    if (!isStorable(settings)) throw invalidArgument('--settings', 'broken characters are not allowed');
    return checked.data;
  }
  const issue = checked.error.issues[0];
  const what = issue?.path.join('.') ?? '';
  throw invalidArgument('--settings', printable(`${what === '' ? kind : what}: ${inWords(issue, settings)}`));
}

function inWords(issue: z.core.$ZodIssue | undefined, settings: Record<string, unknown>): string {
  if (issue?.code === 'invalid_type' && settings[String(issue.path[0])] === undefined) return 'is missing';
  // Of a key in a record, only the inner one says what it should be.
  return (issue?.code === 'invalid_key' ? issue.issues[0] : issue)?.message ?? 'cannot be used';
}

/**
 * Reads credentials: a JSON object, or the password or token alone. Nothing of them is ever repeated in a refusal.
 * @param given what is known of them already
 * @throws AdminError invalid_argument
 */
export async function readCredentials(
  kind: RouteKind,
  content: string,
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { credentials: schema, bareSecret = '' } = await kindOfRoute(kind);
  if (schema === null) throw refused(`A route of kind ${kind} has no credentials.`);
  const secret = content.trim();
  const typed = secret.startsWith('{') ? parseObject('--credentials', secret) : { [bareSecret]: secret };
  const checked = schema.safeParse({ ...given, ...typed });
  if (checked.success) return checked.data;
  const fields = 'shape' in schema ? Object.keys(schema.shape as object) : [bareSecret];
  const wrong = fields.find((field) => checked.error.issues.some(({ path }) => path[0] === field));
  throw invalidArgument(
    '--credentials',
    wrong === undefined
      ? `${kind} knows ${fields.join(', ')} and nothing else`
      : `${wrong} is missing or cannot be used`,
  );
}

/** @throws AdminError invalid_argument when this is no JSON object; what it is, is not repeated */
export function parseObject(option: string, json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalidArgument(option, 'this is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgument(option, 'a JSON object is needed');
  }
  return { ...value };
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return storable(value) === value;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}
