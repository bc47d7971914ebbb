import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { currentIds } from '../telemetry/ids.ts';
import { safeError } from '../telemetry/safeError.ts';
import { currentTrace } from '../telemetry/tracing.ts';
import type { Config } from './config.ts';

// None of these is logged on purpose; this is for future log lines.
const PERSONAL_OR_SECRET = [
  'authorization',
  'password',
  'secret',
  'apiKey',
  'msisdn',
  'recipient',
  'phone',
  'text',
  'url.password',
  'headers.authorization',
  '*.headers.authorization',
];

function options(config: Pick<Config, 'LOG_LEVEL'>): LoggerOptions {
  return {
    level: config.LOG_LEVEL,
    base: null,
    mixin: () => ({ ...currentIds(), ...currentTrace() }),
    serializers: { err: safeError },
    redact: { paths: PERSONAL_OR_SECRET, censor: '[hidden]' },
  };
}

/** For a process of its own (`npm run api`, `npm run worker`): JSON lines on stdout. */
export function serviceLog(config: Pick<Config, 'LOG_LEVEL'>): Logger {
  return pino(options(config));
}

/** For the all-in-one: JSON lines appended to `path`; warnings and worse also to `terminal`, in readable lines. */
export function startLog(
  config: Pick<Config, 'LOG_LEVEL'>,
  path: string,
  terminal: (line: string) => void,
): Logger {
  const file = pino.destination({ dest: path, append: true, mkdir: true, mode: 0o600, sync: false });
  const readable: DestinationStream = { write: calmly(terminal) };
  return pino(
    options(config),
    pino.multistream([
      { level: 'trace', stream: file },
      { level: 'warn', stream: readable },
    ]),
  );
}

const LEVEL_NAMES: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'fatal' };
const ERROR = 50;

type Entry = { level: number; time: number; msg?: string; err?: { message?: string }; sdkComponent?: string };

// While a server is down the same message comes many times a second; the file has them all.
const REPEAT_MS = 10_000;

function calmly(terminal: (line: string) => void): (json: string) => void {
  const shown = new Map<string, number>();
  return (json) => {
    const entry = JSON.parse(json) as Entry;
    // The Temporal SDK warns of what is intended here, such as a worker without workflows.
    if (entry.sdkComponent !== undefined && entry.level < ERROR) return;
    const message = entry.msg ?? '';
    if (entry.time - (shown.get(message) ?? 0) < REPEAT_MS) return;
    if (shown.size > 100) shown.clear();
    shown.set(message, entry.time);
    terminal(readableLine(entry));
  };
}

// `10:15:00 warning: message (cause)`.
function readableLine(entry: Entry): string {
  const time = new Date(entry.time).toTimeString().slice(0, 8);
  const cause = entry.err?.message === undefined ? '' : ` (${entry.err.message.split('\n')[0]})`;
  return `${time} ${LEVEL_NAMES[entry.level] ?? 'error'}: ${entry.msg ?? ''}${cause}`;
}
