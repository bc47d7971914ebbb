/** How many of a worker's attempts are one account's at the most, so that a receiver that hangs keeps none of another's waiting. */
export interface WebhookPlaces {
  /** @returns what gives the place back; or, where the account has none left, after how many milliseconds to ask again */
  enter(accountId: string): { leave: () => void } | { againInMs: number };
}

// Nobody asks again sooner, and no attempt is taken for shorter: how long the first ones of a burst take, nobody knows.
const AGAIN_MIN_MS = 100;
// Behind the first minute of those that wait for a receiver that hangs, twenty ask in a second, however many they are: each time is work
// for the server, which others wait for. Not as seldom as places are free then: a receiver may work again, and those are to find out.
const NEAR_MS = 60_000;
const FAR_PACE_MS = 50;
// The first of those that wait asks again after this long at the latest: one place may be free although most are not.
const FIRST_MAX_MS = 1_000;

/** An account's attempts under way. */
interface UnderWay {
  /** When each began, the oldest first. */
  since: Set<{ at: number }>;
  /** How long the last one took that ended. */
  lastMs: number;
  /** When the last of those that wait asks again. */
  turn: number;
}

/**
 * @param each places of one account. Whoever finds none is told when its turn comes, as quickly as attempts come to their ends:
 *   however many wait, few ask at a time
 */
export function createWebhookPlaces(each: number): WebhookPlaces {
  const accounts = new Map<string, UnderWay>();

  function begin(accountId: string, account: UnderWay, now: number): { leave: () => void } {
    const attempt = { at: now };
    account.since.add(attempt);
    return {
      leave() {
        if (!account.since.delete(attempt)) return;
        account.lastMs = Date.now() - attempt.at;
        // It works again: whoever comes now waits for nobody's turn of before.
        if (account.since.size < each / 2) account.turn = 0;
        if (account.since.size === 0) accounts.delete(accountId);
      },
    };
  }

  return {
    enter(accountId) {
      const now = Date.now();
      const account = accounts.get(accountId) ?? { since: new Set(), lastMs: 0, turn: 0 };
      accounts.set(accountId, account);
      if (account.since.size < each) return begin(accountId, account, now);
      const [oldest] = account.since;
      const takesMs = Math.max(account.lastMs, now - oldest!.at, AGAIN_MIN_MS);
      const first = now + Math.min(takesMs, FIRST_MAX_MS);
      const before = Math.max(account.turn, first);
      const freeAgainMs = takesMs / each;
      account.turn = before + (before < now + NEAR_MS ? freeAgainMs : Math.min(freeAgainMs, FAR_PACE_MS));
      return { againInMs: Math.ceil(account.turn - now) };
    },
  };
}
