import type { ServerResponse } from 'node:http';
import { errorAnswer, type Mischief, write } from '../providers/resendServer.ts';
import type { Chance } from './chance.ts';

/** What befalls one try of a hand-over. */
export type Fault = keyof typeof FAULTS;

/** What befalls an e-mail, try by try, and then nothing more. */
export type Script = readonly Fault[];

/** What its e-mails met at a provider. */
export interface FaultyProvider {
  mischief: Mischief;
  /** The keys that each e-mail came with, by its subject. */
  keys: Map<string, Set<string>>;
  /** How often each fault happened, and each error was answered. */
  counts: Map<string, number>;
}

const reset = (response: ServerResponse): void => void response.socket?.resetAndDestroy();
const throttled = { ...errorAnswer(429, 'rate_limit_exceeded'), headers: { 'retry-after': '1' } };

const FAULTS = {
  // It has not got it.
  failing: (response) => write(response, errorAnswer(500, 'internal_server_error')),
  throttled: (response) => write(response, throttled),
  concurrent: (response) => write(response, errorAnswer(409, 'concurrent_idempotent_requests')),
  mute: () => undefined,
  reset,
  // It has.
  failed: async (response, take) => {
    await take();
    write(response, errorAnswer(500, 'application_error'));
  },
  silent: (_, take) => take(),
  lost: async (response, take) => {
    await take();
    reset(response);
  },
  half: async (response, take) => {
    const text = JSON.stringify((await take()).json);
    response.writeHead(200, { 'content-length': text.length });
    response.write(text.slice(0, 8), () => reset(response));
  },
  // It will have it once it has been asked about it again.
  slow: (_, take) => take(),
  // It will never have it.
  refused: (response) => write(response, errorAnswer(422, 'validation_error', 'Invalid `to` field.')),
} satisfies Record<string, Mischief>;

const NOT_TAKEN: Script = ['failing', 'throttled', 'throttled', 'concurrent', 'mute', 'reset'];
const TAKEN: Script = ['failed', 'silent', 'lost', 'half', 'slow'];
const REFUSED = 0.06;
const WELL = 0.4;
// Of all requests, whatever they are about: nothing of them is read.
const CUT = 0.02;

/** Draws what befalls an e-mail. One that is refused was never taken. */
export function drawScript(chance: Chance): Script {
  if (chance.odds(REFUSED)) return [...oneOrNone(chance, NOT_TAKEN), 'refused'];
  if (chance.odds(WELL)) return [];
  return [NOT_TAKEN, TAKEN, NOT_TAKEN].flatMap((faults) => oneOrNone(chance, faults));
}

const oneOrNone = (chance: Chance, faults: Script): Script => (chance.odds(0.5) ? [chance.pick(faults)] : []);

/** Whether the provider refuses what has this script. */
export const isRefused = (script: Script): boolean => script.at(-1) === 'refused';

/**
 * Does to each e-mail what its script says, and resets a connection now and then before anything was read.
 * @param scriptOf by the subject
 * @param onTaken called whenever it may have taken one more
 */
export function faultyProvider(
  chance: Chance,
  scriptOf: (subject: string) => Script,
  onTaken: () => void,
): FaultyProvider {
  const tries = new Map<string, number>();
  const underWay = new Map<string, () => void>();
  const keys = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

  const nextFault = (subject: string): Fault | undefined => {
    const script = scriptOf(subject);
    const before = tries.get(subject) ?? 0;
    tries.set(subject, before + 1);
    // A refusal is for good.
    return isRefused(script) ? script[Math.min(before, script.length - 1)] : script[before];
  };
  const takes = async (subject: string, take: Parameters<Mischief>[1], worked?: Promise<void>) => {
    const answer = await take(worked);
    if (answer.status !== 200) count(`answered ${(answer.json as { name: string }).name}`);
    if (answer.status === 409) underWay.get(subject)?.();
    onTaken();
    return answer;
  };

  const mischief: Mischief = async (response, take, asked) => {
    if (asked.path !== '/emails') return write(response, await take());
    if (chance.odds(CUT)) {
      count('cut');
      return reset(response);
    }
    const fields = await asked.fields();
    // Its worker was killed.
    if (fields === null) return count('broken off');
    const { subject } = fields;
    keys.set(subject, (keys.get(subject) ?? new Set()).add(String(asked.headers['idempotency-key'])));
    const fault = nextFault(subject);
    if (fault === undefined) return write(response, await takes(subject, take));
    count(fault);
    const worked =
      fault === 'slow' ? new Promise<void>((resolve) => underWay.set(subject, resolve)) : undefined;
    return await (FAULTS[fault] as Mischief)(response, () => takes(subject, take, worked), asked);
  };
  return { mischief, keys, counts };
}
