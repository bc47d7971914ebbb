import { z } from 'zod';
import { storable } from '../../../domain/inbound.ts';
import type { ProviderKind } from '../../../providers/kind.ts';
import { providerKinds } from '../../../providers/registry.ts';
import { printable } from '../printable.ts';
import { invalidArgument, refused } from '../problems.ts';

const KIND_NAMES = providerKinds.all.map(({ name }) => name);

/** All of them, for the help. */
export const KIND_PLACEHOLDER = KIND_NAMES.join('|');

/** The name of a kind. */
export const kindName = z
  .string()
  .refine((name) => KIND_NAMES.includes(name), `one of ${KIND_NAMES.join(', ')} is needed`);

/** The kind of a route. @throws AdminError refused for one that a later release brought */
export function kindOfRoute({ kind }: { kind: string }): ProviderKind {
  const known = providerKinds.named(kind);
  if (known === undefined) throw refused(`This release does not know routes of kind ${printable(kind)}.`);
  return known;
}

/**
 * The settings with the kind's defaults filled in.
 * @throws AdminError invalid_argument naming the first that cannot be used
 */
export function checkSettings(
  kind: ProviderKind,
  settings: Record<string, unknown>,
): Record<string, unknown> {
  const checked = kind.settings.safeParse(settings);
  if (checked.success) {
    if (!isStorable(settings)) throw invalidArgument('--settings', 'broken characters are not allowed');
    return checked.data;
  }
  const issue = checked.error.issues[0];
  const what = issue?.path.join('.') ?? '';
  throw invalidArgument(
    '--settings',
    printable(`${what === '' ? kind.name : what}: ${inWords(issue, settings)}`),
  );
}

function inWords(issue: z.core.$ZodIssue | undefined, settings: Record<string, unknown>): string {
  if (issue?.code === 'invalid_type' && settings[String(issue.path[0])] === undefined) return 'is missing';
  // Of a key in a record, only the inner one says what it should be.
  return (issue?.code === 'invalid_key' ? issue.issues[0] : issue)?.message ?? 'cannot be used';
}

/**
 * Reads credentials: a JSON object, or the secret alone. Nothing of them is ever repeated in a refusal.
 * @param bareSecret what a secret alone stands for
 * @param given what is known of them already
 * @throws AdminError invalid_argument
 */
export function readCredentials(
  { name, credentials: schema }: ProviderKind,
  bareSecret: string,
  content: string,
  given: Record<string, unknown>,
): unknown {
  const secret = content.trim();
  const typed = secret.startsWith('{') ? parseObject('--credentials', secret) : { [bareSecret]: secret };
  const checked = schema.safeParse({ ...given, ...typed });
  if (checked.success) return checked.data;
  const fields = 'shape' in schema ? Object.keys(schema.shape as object) : [bareSecret];
  const wrong = fields.find((field) => checked.error.issues.some(({ path }) => path[0] === field));
  throw invalidArgument(
    '--credentials',
    wrong === undefined
      ? `${name} knows ${fields.join(', ')} and nothing else`
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
