import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWebhookPlaces, type WebhookPlaces } from '../../pipeline/webhookAttempts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

function take(places: WebhookPlaces, account: string): () => void {
  const place = places.enter(account);
  if (!('leave' in place)) throw new Error('there is no place');
  return place.leave;
}

function pauseOf(places: WebhookPlaces, account: string): number {
  const place = places.enter(account);
  if ('leave' in place) throw new Error('there was a place');
  return place.againInMs;
}

const pausesOf = (places: WebhookPlaces, many: number) =>
  Array.from({ length: many }, () => pauseOf(places, 'a'));

const MINUTE = 60_000;
const STEP_MS = 100;
const HANGS_MS = 10_000;
const ANSWERS_MS = 200;
const PAUSES_MS = [0, 2_000, 10_000];

/** An account's events, all at once, to a receiver that hangs for a time: three attempts each, as the workflows make them. */
function simulated(events: number, worksAfterMs: number) {
  const places = createWebhookPlaces(100);
  const began = Date.now();
  const agenda = new Map<number, (() => void)[]>();
  const at = (ms: number, what: () => void) => {
    const step = Math.ceil((Date.now() - began + ms) / STEP_MS);
    const then = agenda.get(step);
    if (then === undefined) agenda.set(step, [what]);
    else then.push(what);
  };
  let [asks, attempts, open] = [0, 0, events];
  const ask = (made: number): void => {
    asks += 1;
    const place = places.enter('a');
    if ('againInMs' in place) return at(place.againInMs, () => ask(made));
    attempts += 1;
    const taken = Date.now() - began >= worksAfterMs;
    at(taken ? ANSWERS_MS : HANGS_MS, () => {
      place.leave();
      if (taken || made + 1 === PAUSES_MS.length) open -= 1;
      else at(PAUSES_MS[made + 1]!, () => ask(made + 1));
    });
  };
  agenda.set(
    0,
    Array<() => void>(events).fill(() => ask(0)),
  );
  for (let step = 0; open > 0; step += 1) {
    vi.setSystemTime(began + step * STEP_MS);
    for (const what of agenda.get(step) ?? []) what();
    agenda.delete(step);
  }
  return { asks, attempts, endedAtMs: Date.now() - began };
}

describe('places for attempts', () => {
  test('are so many of one account, and others’ apart from them; what leaves makes room, once', () => {
    const places = createWebhookPlaces(2);
    const leave = take(places, 'a');
    take(places, 'a');
    expect(places.enter('a')).toHaveProperty('againInMs');
    take(places, 'b');
    leave();
    leave();
    take(places, 'a');
    expect(places.enter('a')).toHaveProperty('againInMs');
  });

  test('those that wait for a receiver that hangs ask again one after the other, twenty a second behind the first minute', () => {
    const places = createWebhookPlaces(100);
    for (let i = 0; i < 100; i += 1) take(places, 'a');
    pass(10_000);
    const pauses = pausesOf(places, 1_000);
    // A hundred places of ten seconds: ten are free in a second.
    for (const [i, pause] of pauses.slice(0, 590).entries()) expect(pause).toBe(1_000 + (i + 1) * 100);
    for (const [i, pause] of pauses.slice(590).entries()) expect(pause).toBe(60_000 + (i + 1) * 50);
    take(places, 'b');
  });

  test.each([
    ['a receiver that hangs for good', 10_000, Infinity],
    ['one that works again after two minutes', 10_000, 120_000],
    ['one that works again after two minutes, with very many', 30_000, 120_000],
  ])('however many wait for %s, they ask a few times for each attempt', (_, events, worksAfterMs) => {
    const { asks, attempts, endedAtMs } = simulated(events, worksAfterMs);
    expect(asks / attempts).toBeLessThan(4);
    // Twenty a second of those that wait find out that it works.
    if (worksAfterMs < Infinity) expect(endedAtMs).toBeLessThan(worksAfterMs + MINUTE + events * 50);
  });

  test('whoever comes once a receiver works again waits for nobody of before', () => {
    const places = createWebhookPlaces(2);
    const leaving = [take(places, 'a'), take(places, 'a')];
    pass(10_000);
    pausesOf(places, 1_000);
    for (const leave of leaving) leave();
    for (const leave of [take(places, 'a'), take(places, 'a')]) {
      pass(200);
      leave();
    }
    take(places, 'a');
    take(places, 'a');
    expect(pauseOf(places, 'a')).toBeLessThan(1_000);
  });

  test('those that wait for one that answers soon ask again soon', () => {
    const places = createWebhookPlaces(100);
    const leaving = Array.from({ length: 100 }, () => take(places, 'a'));
    expect(Math.max(...pausesOf(places, 1_000))).toBeLessThanOrEqual(1_100);
    pass(200);
    leaving[0]!();
    take(places, 'a');
    // Five hundred a second.
    expect(Math.max(...pausesOf(places, 1_000))).toBeLessThanOrEqual(2_900);
  });

  test('what a receiver took before is forgotten with its last attempt', () => {
    const places = createWebhookPlaces(1);
    const leave = take(places, 'a');
    pass(10_000);
    expect(pausesOf(places, 3)).toEqual([11_000, 21_000, 31_000]);
    leave();
    take(places, 'a');
    expect(pauseOf(places, 'a')).toBe(200);
  });
});
