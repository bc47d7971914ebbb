import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWebhookPlaces, type WebhookPlaces } from '../../pipeline/webhookPlaces.ts';

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

  test('those that wait for a receiver that hangs ask again one after the other, within a minute', () => {
    const places = createWebhookPlaces(100);
    for (let i = 0; i < 100; i += 1) take(places, 'a');
    pass(10_000);
    const pauses = pausesOf(places, 1_000);
    // A hundred places of ten seconds: ten are free in a second.
    for (const [i, pause] of pauses.slice(0, 500).entries()) expect(pause).toBe(1_000 + (i + 1) * 100);
    expect(Math.max(...pauses)).toBe(60_000);
    take(places, 'b');
  });

  test('those that wait for one that answers soon ask again soon', () => {
    const places = createWebhookPlaces(100);
    const leaving = Array.from({ length: 100 }, () => take(places, 'a'));
    expect(Math.max(...pausesOf(places, 1_000))).toBeLessThanOrEqual(100);
    pass(200);
    leaving[0]!();
    take(places, 'a');
    // Five hundred a second.
    expect(Math.max(...pausesOf(places, 1_000))).toBeLessThanOrEqual(2_300);
  });

  test('what a receiver took before is forgotten with its last attempt', () => {
    const places = createWebhookPlaces(1);
    const leave = take(places, 'a');
    pass(10_000);
    expect(pausesOf(places, 3)).toEqual([11_000, 21_000, 31_000]);
    leave();
    take(places, 'a');
    expect(pauseOf(places, 'a')).toBe(100);
  });
});
