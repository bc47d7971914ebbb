import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { closedProvider, type Provider } from '../../providers/provider.ts';
import { createRouteHealth } from '../../worker/routeTasks.ts';

const closed = closedProvider('r', null);
const open: Provider = { ...closed, state: () => ({ ...closed.state(), takesSubmits: true, sessions: 1 }) };
const blamed = { kind: 'broken', code: 'ESME_RPROHIBITED' } as const;
const email = (id: string) => ({ kind: 'email', id }) as const;
const account = (id: string) => ({ kind: 'account', id }) as const;
const taken = { kind: 'accepted', providerMessageId: '1' } as const;

describe('the health of a route', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => vi.useRealTimers());

  test('without an open session it does not work', () => {
    expect(createRouteHealth().seen('r', closed).working).toBe(false);
    expect(createRouteHealth().seen('r', open).working).toBe(true);
  });

  test('five answers in a row that blame the route stop it for half a minute; anything else begins anew', () => {
    const health = createRouteHealth();
    for (let i = 0; i < 4; i += 1) health.onAnswer(blamed);
    health.onAnswer(taken);
    for (let i = 0; i < 4; i += 1) health.onAnswer(blamed);
    expect(health.seen('r', open).working).toBe(true);
    health.onAnswer(blamed);
    expect(health.seen('r', open).working).toBe(false);
    vi.setSystemTime(Date.now() + 30_000);
    expect(health.seen('r', open).working).toBe(true);
    health.onAnswer(blamed);
    expect(health.seen('r', open).working).toBe(false);
    health.onAnswer({ kind: 'refused', reason: 'invalid_destination' });
    expect(health.seen('r', open).working).toBe(true);
  });

  test('one e-mail that is answered so again and again counts once; five of them stop it, for as long as they are', () => {
    const health = createRouteHealth();
    for (let i = 0; i < 20; i += 1) health.onAnswer(blamed, email('em_1'));
    expect(health.seen('r', open)).toMatchObject({ working: true, held: 20 });
    for (const id of ['em_2', 'em_3', 'em_4']) health.onAnswer(blamed, email(id));
    expect(health.seen('r', open).working).toBe(true);
    health.onAnswer(blamed, email('em_5'));
    expect(health.seen('r', open).working).toBe(false);
    vi.setSystemTime(Date.now() + 29_000);
    health.onAnswer(blamed, email('em_1'));
    vi.setSystemTime(Date.now() + 29_000);
    expect(health.seen('r', open).working).toBe(false);
    health.onAnswer(taken, email('em_6'));
    health.onAnswer(blamed, email('em_1'));
    expect(health.seen('r', open).working).toBe(true);
  });

  test('an account that is refused again and again counts once, and does not keep it stopped; five of them stop it', () => {
    const health = createRouteHealth();
    const working = () => health.seen('r', open).working;
    for (let i = 0; i < 20; i += 1) health.onAnswer(blamed, account('cl_1'));
    for (const id of ['em_2', 'em_3', 'em_4']) health.onAnswer(blamed, email(id));
    expect(working()).toBe(true);
    health.onAnswer(blamed, account('cl_5'));
    expect(working()).toBe(false);
    vi.setSystemTime(Date.now() + 29_000);
    health.onAnswer(blamed, account('cl_1'));
    vi.setSystemTime(Date.now() + 1_000);
    expect(working()).toBe(true);
    health.onAnswer(blamed, account('cl_1'));
    expect(working()).toBe(true);
    health.onAnswer(blamed, account('cl_6'));
    expect(working()).toBe(false);
  });

  test('a session that is just gone is not the SMSC’s word against the route', () => {
    const health = createRouteHealth();
    for (let i = 0; i < 20; i += 1) health.onAnswer({ kind: 'broken', code: 'no_session' });
    expect(health.seen('r', open)).toMatchObject({ working: true, held: 0 });
  });

  test('counts what became of the submits', () => {
    const health = createRouteHealth();
    health.onAnswer(taken);
    health.onAnswer({ kind: 'throttled', retryAfterMs: 1 });
    health.onAnswer({ kind: 'later', retryAfterMs: 1 });
    health.onAnswer(blamed);
    health.onAnswer({ kind: 'refused', reason: 'network_refused' });
    health.onAnswer({ kind: 'unanswered' });
    const counted = { submitted: 1, throttled: 1, held: 2, refused: 1, unanswered: 1 };
    expect(health.seen('r', open)).toMatchObject(counted);
  });
});
