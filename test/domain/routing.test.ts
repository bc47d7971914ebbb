import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  emailTraffic,
  hasFallback,
  orderRoutes,
  ownRoutes,
  type RouteOption,
  type RouteRule,
  type Routing,
  type Traffic,
  workingRoute,
} from '../../domain/routing.ts';

const SMS: Traffic = {
  key: 'msg_1',
  msisdn: '+48500100200',
  accountId: 'cl_a',
  type: 'sms',
  priority: false,
};

function option(name: string, rest: Partial<RouteOption> = {}): RouteOption {
  return { name, kind: 'smpp', state: 'active', working: true, carries: ['sms'], simulated: false, ...rest };
}

function rule(route: string, rest: Partial<RouteRule> = {}): RouteRule {
  return { route, prefix: '', accountId: null, type: null, priority: null, weight: 100, ...rest };
}

const SIMULATOR = option('simulator', { simulated: true });

describe('the order of routes', () => {
  test('without a rule that admits the message, there is none', () => {
    const routing = { routes: [option('a')], rules: [rule('a', { prefix: '49' })] };
    expect(orderRoutes(routing, SMS)).toEqual([]);
    expect(orderRoutes({ routes: [], rules: [] }, SMS)).toEqual([]);
  });

  test('the account’s own rule comes before a longer prefix, that before priority, that before type', () => {
    const rules = [
      rule('all'),
      rule('type', { type: 'sms' }),
      rule('normal', { priority: false }),
      rule('poland', { prefix: '48' }),
      rule('mobile', { prefix: '4850' }),
      rule('own', { accountId: 'cl_a' }),
    ];
    const routes = ['all', 'type', 'normal', 'poland', 'mobile', 'own'].map((name) => option(name));
    expect(orderRoutes({ routes, rules }, SMS)).toEqual(['own', 'mobile', 'poland', 'normal', 'type', 'all']);
    const inAnyOrder = fc.shuffledSubarray(rules, { minLength: rules.length });
    fc.assert(
      fc.property(inAnyOrder, fc.string(), (shuffled, key) => {
        expect(orderRoutes({ routes, rules: shuffled }, { ...SMS, key })).toEqual([
          ...['own', 'mobile', 'poland', 'normal', 'type', 'all'],
        ]);
      }),
    );
  });

  test('a rule of a route that is not there counts for nothing', () => {
    const routing = { routes: [SIMULATOR], rules: [rule('gone', { prefix: '48' }), rule('simulator')] };
    expect(orderRoutes(routing, SMS)).toEqual(['simulator']);
  });

  test('rules for another account, number, type or priority do not count', () => {
    const rules = [
      rule('a', { accountId: 'cl_b' }),
      rule('b', { prefix: '48600' }),
      rule('c', { type: 'mms' }),
      rule('d', { priority: true }),
      rule('e'),
    ];
    const routes = ['a', 'b', 'c', 'd', 'e'].map((name) => option(name));
    expect(orderRoutes({ routes, rules }, SMS)).toEqual(['e']);
    expect(orderRoutes({ routes, rules }, { ...SMS, priority: true })).toEqual(['d', 'e']);
  });

  test('what does not work comes last, what is drained or disabled not at all', () => {
    const rules = [
      rule('broken', { prefix: '48' }),
      rule('drained', { prefix: '485' }),
      rule('off', { prefix: '4850' }),
      rule('works'),
    ];
    const routes = [
      option('broken', { working: false }),
      option('drained', { state: 'draining' }),
      option('off', { state: 'disabled' }),
      option('works'),
    ];
    expect(orderRoutes({ routes, rules }, SMS)).toEqual(['works', 'broken']);
  });

  test('the simulated network stands back for a real route, even a broken or disabled one', () => {
    const rules = [rule('simulator'), rule('real', { prefix: '48' })];
    const only = (real: RouteOption) => orderRoutes({ routes: [SIMULATOR, real], rules }, SMS);
    expect(only(option('real'))).toEqual(['real']);
    expect(only(option('real', { working: false }))).toEqual(['real']);
    expect(only(option('real', { state: 'disabled' }))).toEqual([]);
    const abroad = { ...SMS, msisdn: '+4915112345678' };
    expect(orderRoutes({ routes: [SIMULATOR, option('real')], rules }, abroad)).toEqual(['simulator']);
  });

  test('it stands back for MMS and calls too where the real route carries SMS alone, and not for look-ups', () => {
    const all = { ...SIMULATOR, carries: ['sms', 'mms', 'vms', 'hlr'] as const };
    const routing = {
      routes: [all, option('smsc')],
      rules: [rule('simulator'), rule('smsc', { prefix: '48' })],
    };
    for (const type of ['mms', 'vms'] as const) {
      expect(orderRoutes(routing, { ...SMS, type })).toEqual([]);
      expect(orderRoutes(routing, { ...SMS, type, msisdn: '+4915112345678' })).toEqual(['simulator']);
    }
    expect(orderRoutes(routing, { ...SMS, type: 'hlr' })).toEqual(['simulator']);
    const smsOnly = [rule('simulator'), rule('smsc', { type: 'sms' })];
    expect(orderRoutes({ ...routing, rules: smsOnly }, { ...SMS, type: 'mms' })).toEqual([]);
    const given = [rule('simulator', { accountId: 'cl_a', type: 'mms' }), rule('smsc')];
    expect(orderRoutes({ ...routing, rules: given }, { ...SMS, type: 'mms' })).toEqual(['simulator']);
  });

  test('an account may be given the simulated network', () => {
    const rules = [rule('simulator', { accountId: 'cl_a' }), rule('real')];
    const routing = { routes: [SIMULATOR, option('real')], rules };
    expect(orderRoutes(routing, SMS)[0]).toBe('simulator');
    expect(orderRoutes(routing, { ...SMS, accountId: 'cl_b' })).toEqual(['real']);
  });

  test.each(['hlr', 'email'] as const)(
    'the simulated network stands back of %s only for a real route that carries it',
    (type) => {
      const all = { ...SIMULATOR, carries: ['sms', 'email', 'hlr'] as const };
      const order = (real: RouteOption, more: Partial<RouteRule> = {}) =>
        orderRoutes(
          { routes: [all, real], rules: [rule('simulator'), rule('real', more)] },
          { ...emailTraffic('em_1', 'cl_a'), msisdn: '+48500100200', type },
        );
      expect(order(option('real', { carries: [type] }))).toEqual(['real']);
      expect(order(option('real', { carries: [type], state: 'disabled' }))).toEqual([]);
      expect(order(option('real'))).toEqual(['simulator']);
      expect(order(option('real', { carries: [type, 'sms'] }), { type: 'sms' })).toEqual(['simulator']);
      expect(order(option('real', { carries: [type] }), { accountId: 'cl_b' })).toEqual(['simulator']);
    },
  );

  test('equals share by weight', () => {
    const routing: Routing = {
      routes: [option('a'), option('b'), option('c')],
      rules: [rule('a', { weight: 70 }), rule('b', { weight: 20 }), rule('c', { weight: 10 })],
    };
    const firsts: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let i = 0; i < 20_000; i += 1) firsts[orderRoutes(routing, { ...SMS, key: `msg_${i}` })[0]!]! += 1;
    expect(firsts['a']! / 20_000).toBeCloseTo(0.7, 1);
    expect(firsts['b']! / 20_000).toBeCloseTo(0.2, 1);
    expect(firsts['c']! / 20_000).toBeCloseTo(0.1, 1);
  });

  // The hash of this key with the route a is 0, the least of all.
  test('a key has one order whatever that of the rules is, also with the least hash', () => {
    const routes = ['a', 'b'].map((name) => option(name));
    const traffic = { ...SMS, key: 'msg_RVeppa' };
    const order = (...names: string[]) =>
      orderRoutes({ routes, rules: names.map((name) => rule(name)) }, traffic);
    expect(order('a', 'b')).toEqual(order('b', 'a'));
  });

  test('each key has one order; when a route goes, only its own keys move', () => {
    const names = ['a', 'b', 'c', 'd'];
    const routing = { routes: names.map((name) => option(name)), rules: names.map((name) => rule(name)) };
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...names), (key, gone) => {
        const traffic = { ...SMS, key };
        const all = orderRoutes(routing, traffic);
        expect(orderRoutes(routing, traffic)).toEqual(all);
        expect([...all].sort()).toEqual(names);
        const rest = { ...routing, rules: routing.rules.filter(({ route }) => route !== gone) };
        expect(orderRoutes(rest, traffic)).toEqual(all.filter((name) => name !== gone));
      }),
    );
  });
});

describe('an e-mail', () => {
  const MAIL = emailTraffic('em_1', 'cl_a');
  const carries = ['email'] as const;
  const order = (...rules: RouteRule[]) =>
    orderRoutes({ routes: ['a', 'b'].map((name) => option(name, { carries })), rules }, MAIL);

  test('goes by rules for its account, for e-mail, or for everything', () => {
    expect(order(rule('a'))).toEqual(['a']);
    expect(order(rule('a'), rule('b', { accountId: 'cl_a' }))).toEqual(['b', 'a']);
    expect(order(rule('a', { type: 'email' }))).toEqual(['a']);
    expect(order(rule('a', { priority: false }))).toEqual(['a']);
  });

  test('has no number and no priority: rules for those are not for it', () => {
    expect(order(rule('a', { prefix: '48' }))).toEqual([]);
    expect(order(rule('a', { priority: true }))).toEqual([]);
    expect(order(rule('a', { accountId: 'cl_b' }), rule('b', { type: 'sms' }))).toEqual([]);
  });

  test('has its lot by its id', () => {
    const of = (id: string) => {
      const routes = ['a', 'b'].map((name) => option(name, { carries }));
      return orderRoutes({ routes, rules: [rule('a'), rule('b')] }, emailTraffic(id, 'cl_a'))[0];
    };
    const firsts = new Set(Array.from({ length: 50 }, (_, i) => of(`em_${i}`)));
    expect([...firsts].sort()).toEqual(['a', 'b']);
  });
});

describe('the route to move to', () => {
  const routes = [option('best', { working: false }), option('next'), option('last')];
  const rules = [rule('best', { prefix: '4850' }), rule('next', { prefix: '48' }), rule('last')];
  const to = (may: (route: string) => boolean, all: Routing = { routes, rules }) =>
    workingRoute(all, SMS, may);

  test('is the best one that works', () => {
    expect(to(() => true)).toBe('next');
    const working = routes.map((route) => ({ ...route, working: true }));
    expect(to(() => true, { routes: working, rules })).toBe('best');
  });

  test('is one that may be', () => {
    expect(to((name) => name !== 'next')).toBe('last');
    expect(to((name) => name === 'best')).toBeNull();
  });

  test('is none where none works or takes it', () => {
    expect(to(() => false)).toBeNull();
    const broken = routes.map((route) => ({ ...route, working: false }));
    expect(to(() => true, { routes: broken, rules })).toBeNull();
    expect(to(() => true, { routes, rules: [rule('next', { prefix: '49' })] })).toBeNull();
  });
});

describe('the routes of an account alone', () => {
  const routes = ['a', 'b', 'c', 'd'].map((name) => option(name));
  const own = (route: string, rest: Partial<RouteRule> = {}) => rule(route, { accountId: 'cl_a', ...rest });

  test('are those with rules of its own and of nobody else’s, whatever they admit', () => {
    const rules = [
      own('a', { prefix: '48' }),
      own('a', { type: 'sms' }),
      ...[own('b'), rule('b', { priority: true, prefix: '49' })],
      ...[own('c'), rule('c', { accountId: 'cl_b', type: 'mms' })],
      rule('d'),
    ];
    expect(ownRoutes({ routes, rules }, SMS)).toEqual(['a']);
    expect(ownRoutes({ routes, rules: [own('a', { type: 'mms' })] }, SMS)).toEqual([]);
  });
});

describe('a reserve', () => {
  const routes = [option('broken', { working: false }), option('other'), SIMULATOR];
  const reserve = (own: Partial<RouteRule>, others: RouteRule[], all = routes) =>
    hasFallback({ routes: all, rules: [rule('broken', own), ...others] }, 'broken');

  test('is another working route with a rule that one of its messages can match', () => {
    expect(reserve({}, [rule('other', { prefix: '48' })])).toBe(true);
    expect(reserve({ prefix: '4850' }, [rule('other', { prefix: '48' })])).toBe(true);
    expect(reserve({ prefix: '48' }, [rule('other', { prefix: '4850' })])).toBe(true);
    expect(reserve({ accountId: 'cl_a' }, [rule('other')])).toBe(true);
    expect(reserve({ accountId: 'cl_a' }, [rule('other', { accountId: 'cl_a' })])).toBe(true);
    expect(reserve({ priority: true }, [rule('other', { priority: true })])).toBe(true);
    expect(reserve({ type: 'sms' }, [rule('other', { type: 'sms' })])).toBe(true);
  });

  test('is so where it can take what one of several rules is for', () => {
    const others = [rule('broken', { prefix: '49' }), rule('other', { prefix: '48' })];
    expect(reserve({ prefix: '48' }, others)).toBe(true);
  });

  test.each([
    ['none', {}, []],
    ['for other numbers', { prefix: '48' }, [rule('other', { prefix: '49' })]],
    ['for another account', { accountId: 'cl_a' }, [rule('other', { accountId: 'cl_b' })]],
    ['for look-ups', {}, [rule('other', { type: 'hlr' })]],
    ['for another type', { type: 'mms' }, [rule('other', { type: 'sms' })]],
    ['for another priority', { priority: true }, [rule('other', { priority: false })]],
    ['the simulated network', {}, [rule('simulator')]],
  ] as const)('is not one %s', (_, own, others) => {
    expect(reserve(own, [...others])).toBe(false);
  });

  test('is none that does not work or takes nothing new', () => {
    const others = [rule('other')];
    expect(reserve({}, others, [option('broken'), option('other', { working: false })])).toBe(false);
    expect(reserve({}, others, [option('broken'), option('other', { state: 'draining' })])).toBe(false);
  });

  test('is the simulated network for an account it was given to', () => {
    expect(reserve({}, [rule('simulator', { accountId: 'cl_a' })])).toBe(true);
  });
});
