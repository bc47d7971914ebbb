import { describe, expect, test } from 'vitest';
import { createWebhookPlaces, type WebhookPlaces } from '../../pipeline/webhookPlaces.ts';

const pauseOf = (places: WebhookPlaces, account: string): number => {
  const place = places.enter(account);
  if ('leave' in place) throw new Error('there was a place');
  return place.againInMs;
};

describe('places for attempts', () => {
  test('are so many of one account, and others’ apart from them; what leaves makes room', () => {
    const places = createWebhookPlaces(2);
    const [first] = [places.enter('a'), places.enter('a')];
    expect(places.enter('a')).toHaveProperty('againInMs');
    expect(places.enter('b')).toHaveProperty('leave');
    if ('leave' in first) first.leave();
    expect(places.enter('a')).toHaveProperty('leave');
    expect(places.enter('a')).toHaveProperty('againInMs');
  });

  test('those that wait are told to come back one after the other, within a minute', () => {
    const places = createWebhookPlaces(100);
    for (let i = 0; i < 100; i += 1) places.enter('a');
    const pauses = Array.from({ length: 1_000 }, () => pauseOf(places, 'a'));
    expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
    expect(pauses[0]).toBeLessThan(1_500);
    // A hundred places of ten seconds: ten are free in a second.
    for (const [i, pause] of pauses.slice(0, 500).entries()) {
      expect(Math.abs(pause - (1_000 + (i + 1) * 100))).toBeLessThan(500);
    }
    expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
    // Of another account nobody has waited yet.
    expect(places.enter('b')).toHaveProperty('leave');
  });
});
