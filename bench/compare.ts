import type { Database } from '../db/connection.ts';
import type { Contender, Ground } from './contender.ts';
import { atRate, type HalfLoad, saturate, type Saturated } from './measure.ts';

/** One round of one contender. */
export interface Round {
  saturated: Saturated;
  /** At half of that rate; null for requests of several messages. */
  half: HalfLoad | null;
}

/** All rounds of one contender; the middle one by its messages per second counts. */
export interface Compared {
  key: string;
  title: string;
  middle: Round;
  rounds: Round[];
}

const WARM_UP = 200;

/** Measures the contenders in turns, each round all of them. */
export async function compare(
  ground: Ground,
  sql: Database,
  contenders: Contender[],
  options: { messages: number; inFlight: number; rounds: number },
): Promise<Compared[]> {
  const { messages, rounds } = options;
  for (const contender of contenders) {
    console.error(`warms up ${contender.title} …`);
    await saturate(ground, contender, sql, { ...options, messages: Math.min(WARM_UP, messages) });
  }
  const found = new Map<string, Round[]>(contenders.map(({ key }) => [key, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) {
      const inFlight = inFlightOf(contender, options.inFlight);
      const saturated = await saturate(ground, contender, sql, { messages, inFlight });
      const half =
        contender.recipients > 1
          ? null
          : await atRate(contender, saturated.perSecond / 2, Math.ceil(messages / 2));
      found.get(contender.key)!.push({ saturated, half });
      console.error(
        `round ${round} of ${rounds}: ${contender.title}: ${saturated.perSecond.toFixed(1)} messages/s, ` +
          `accepted at half of it by ${half?.accept.median.toFixed(1) ?? '–'} ms`,
      );
    }
  }
  return contenders.map(({ key, title }) => {
    const all = found.get(key)!;
    return { key, title, middle: middleRound(all), rounds: all };
  });
}

// Requests of a hundred messages carry as many as a hundred others.
function inFlightOf({ recipients }: Contender, inFlight: number): number {
  return recipients === 1 ? inFlight : 4;
}

function middleRound(rounds: Round[]): Round {
  const sorted = rounds.toSorted((a, b) => a.saturated.perSecond - b.saturated.perSecond);
  return sorted[Math.floor(sorted.length / 2)]!;
}
