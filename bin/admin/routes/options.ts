import type { RouteKind } from '../../../domain/routing.ts';
import { optional, type Values } from '../command.ts';
import { checkSettings, parseObject } from './kinds.ts';
import { oneOf, text, wholeNumber, yesOrNo } from '../values.ts';
import type { Tools } from '../tools.ts';

const MAX_PORT = 65_535;

/** The settings that nearly every route needs, as options of their own; `--settings` takes all there are. */
export const settingOptions = {
  settings: optional('JSON|FILE|-', 'all settings as one JSON object; null gives back a default', text),
  host: optional('HOST', 'smpp: the SMSC', text),
  port: optional('PORT', 'smpp: default 2775', wholeNumber(1, MAX_PORT, '')),
  tls: optional('yes|no', 'smpp: default no', yesOrNo),
  tlsCa: optional('FILE|-', 'smpp: the certificates to trust, PEM; default: those of Node', text),
  bind: optional(
    'transceiver|pair',
    'smpp: pair binds a transmitter and a receiver',
    oneOf('transceiver', 'pair'),
  ),
  sessions: optional('N', 'smpp: binds per worker process; default 1', wholeNumber(1, 16, '')),
  window: optional('N', 'smpp: submits open per session; default 10', wholeNumber(1, 1000, '')),
  url: optional('URL', 'smsapi: the provider’s address; default: the usual one', text),
  callbackUrl: optional('URL', 'smsapi: our API as the provider reaches it', text),
};

type Typed = Values<typeof settingOptions>;

/**
 * The settings as they are to be stored: what was there, and over it what is given.
 * @throws AdminError invalid_argument for what the kind does not know or allow
 */
export async function readSettings(
  kind: RouteKind,
  before: Record<string, unknown>,
  typed: Typed,
  tools: Tools,
): Promise<Record<string, unknown>> {
  const { settings: source, tlsCa, ...single } = pickSettings(typed);
  const given: Record<string, unknown> = {
    ...(source === undefined ? {} : await readObject(source, tools)),
    ...single,
    ...(tlsCa === undefined ? {} : { tlsCa: await tools.read('--tls-ca', tlsCa) }),
  };
  const merged = Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, value]) => value !== null),
  );
  await checkSettings(kind, merged);
  return merged;
}

// Written out on the command line it begins like an object; no file's name does.
async function readObject(source: string, tools: Tools): Promise<Record<string, unknown>> {
  const json = source.trimStart().startsWith('{') ? source : await tools.read('--settings', source);
  return parseObject('--settings', json);
}

function pickSettings(typed: Typed): Typed {
  const names = Object.keys(settingOptions) as (keyof Typed)[];
  return Object.fromEntries(
    names.filter((name) => typed[name] !== undefined).map((name) => [name, typed[name]]),
  );
}
