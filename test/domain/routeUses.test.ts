import { expect, test } from 'vitest';
import {
  onlyUses,
  type RouteOption,
  type RouteRule,
  type Routing,
  simulatedUse,
} from '../../domain/routing.ts';

const route = (name: string, more: Partial<RouteOption> = {}): RouteOption => ({
  ...{ name, kind: 'smpp', state: 'active', working: true, carries: ['sms'], simulated: false },
  ...more,
});
const simulator = route('simulator', { simulated: true });
const rule = (of: string, more: Partial<RouteRule> = {}): RouteRule => ({
  ...{ route: of, prefix: '', accountId: null, type: null, priority: null, weight: 100 },
  ...more,
});
const routing = (routes: RouteOption[], ...rules: RouteRule[]): Routing => ({ routes, rules });

test.each<[string, Routing, ReturnType<typeof simulatedUse>]>([
  ['alone', routing([simulator], rule('simulator')), { routes: ['simulator'], beside: false }],
  ['without a rule', routing([simulator]), null],
  [
    'beside a route for a part of it',
    routing([simulator, route('a')], rule('simulator'), rule('a', { prefix: '48' })),
    { routes: ['simulator'], beside: true },
  ],
  ['behind a route for all of it', routing([simulator, route('a')], rule('simulator'), rule('a')), null],
  [
    'given to an account, whatever real routes take',
    routing([simulator, route('a')], rule('simulator', { accountId: 'cl_1' }), rule('a')),
    { routes: ['simulator'], beside: true },
  ],
  ['disabled', routing([{ ...simulator, state: 'disabled' }], rule('simulator')), null],
])('what the simulated network takes: %s', (_, all, expected) => {
  expect(simulatedUse(all)).toEqual(expected);
});

test.each<[string, RouteOption[], RouteRule[], number]>([
  ['nobody else', [], [], 1],
  ['a wider rule', [route('b')], [rule('b', { prefix: '4' })], 0],
  ['a narrower rule', [route('b')], [rule('b', { prefix: '485' })], 1],
  ['a rule for one type', [route('b')], [rule('b', { type: 'sms' })], 1],
  ['a rule for one account', [route('b')], [rule('b', { accountId: 'cl_1' })], 1],
  ['a route that drains', [route('b', { state: 'draining' })], [rule('b')], 1],
  ['the simulated network, which is nobody’s reserve', [simulator], [rule('simulator')], 1],
  ['it for one account', [simulator], [rule('simulator', { accountId: 'cl_1' })], 1],
])('what only one route takes, beside %s', (_, others, rules, uses) => {
  const own = rule('a', { prefix: '48' });
  expect(onlyUses(routing([route('a'), ...others], own, ...rules), 'a')).toEqual(uses === 1 ? [own] : []);
});

test.each<[string, Partial<RouteRule>, Partial<RouteRule>, boolean]>([
  ['an account, all', { accountId: 'cl_1' }, {}, true],
  ['an account, the same', { accountId: 'cl_1' }, { accountId: 'cl_1' }, true],
  ['an account, another', { accountId: 'cl_1' }, { accountId: 'cl_2' }, false],
  ['all accounts, one', {}, { accountId: 'cl_1' }, false],
  ['a type, all', { type: 'sms' }, {}, true],
  ['a type, another', { type: 'sms' }, { type: 'mms' }, false],
  ['all types, one', {}, { type: 'sms' }, false],
  ['a priority, both', { priority: false }, {}, true],
  ['a priority, the other', { priority: false }, { priority: true }, false],
  ['both priorities, one', {}, { priority: true }, false],
])('what a rule is for, and another: %s', (_, own, other, covered) => {
  const used = rule('a', own);
  const uses = onlyUses(routing([route('a'), route('b')], used, rule('b', other)), 'a');
  expect(uses).toEqual(covered ? [] : [used]);
});

test('the simulated network takes over for the account that it was given to', () => {
  const used = rule('a', { accountId: 'cl_1' });
  const given = (accountId: string) => rule('simulator', { accountId });
  const beside = (other: RouteRule) => onlyUses(routing([route('a'), simulator], used, other), 'a');
  expect(beside(given('cl_1'))).toEqual([]);
  expect(beside(given('cl_2'))).toEqual([used]);
});
