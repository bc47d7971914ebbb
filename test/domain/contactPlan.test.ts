import { describe, expect, it } from 'vitest';
import { type BookExcerpt, type NumberedChange, planContacts } from '../../domain/contactPlan.ts';
import { EMPTY_CONTACT } from '../../domain/contacts.ts';
import { Refused } from '../../domain/refusals.ts';

const ANNA = '+48500100200';
const JAN = '+48500100201';
const EWA = '+48500100202';

/** A book with Anna in it, room for two more contacts and one more group, which two names mean. */
const BOOK: BookExcerpt = {
  contacts: new Map([[ANNA, { id: 'ct_anna', content: { ...EMPTY_CONTACT, firstName: 'Anna' } }]]),
  groups: new Map([
    ['Klienci', { id: 'gr_old', compared: 'klienci' }],
    ['VIP', { id: null, compared: 'vip' }],
    ['vip', { id: null, compared: 'vip' }],
    ['Nowi', { id: null, compared: 'nowi' }],
    ['gr_old', { id: 'gr_old', compared: 'klienci' }],
    ['gr_mistyped', { id: null, compared: 'gr_mistyped' }],
  ]),
  used: { contacts: 8, groups: 3 },
  limits: { contacts: 10, groups: 4 },
};

function planIn(book: BookExcerpt, changes: readonly NumberedChange[]) {
  const made = { contacts: 0, groups: 0 };
  const planned = planContacts(book, changes, {
    contact: () => `ct_new${(made.contacts += 1)}`,
    group: () => `gr_new${(made.groups += 1)}`,
  });
  return { ...planned, made };
}

const plan = (...changes: NumberedChange[]) => planIn(BOOK, changes);

const refusals = (outcomes: readonly unknown[]) =>
  outcomes.map((outcome) => (outcome instanceof Refused ? [outcome.refusal, outcome.param] : outcome));

describe('a plan of contacts', () => {
  it('creates who is not in the book, and updates who is', () => {
    const { outcomes, contacts } = plan(
      { msisdn: JAN, change: { first_name: 'Jan' } },
      { msisdn: ANNA, change: { last_name: 'Nowak' } },
    );
    expect(outcomes).toEqual(['created', 'updated']);
    expect(contacts.get(JAN)).toMatchObject({ id: 'ct_new1', content: { firstName: 'Jan' }, changed: true });
    expect(contacts.get(ANNA)).toMatchObject({
      ...{ id: 'ct_anna', content: { firstName: 'Anna', lastName: 'Nowak' }, groups: null, changed: true },
    });
  });

  it('of two changes of one number the later one updates what the earlier one made', () => {
    const { outcomes, contacts } = plan(
      { msisdn: JAN, change: { first_name: 'Jan', groups: ['Klienci'] } },
      { msisdn: JAN, change: { last_name: 'Nowak' } },
    );
    expect(outcomes).toEqual(['created', 'updated']);
    expect(contacts.get(JAN)).toMatchObject({
      ...{ id: 'ct_new1', content: { firstName: 'Jan', lastName: 'Nowak' }, groups: new Set(['gr_old']) },
    });
  });

  it.each([
    ['a name', { first_name: undefined, last_name: 'Nowak' }],
    ['an email that goes', { first_name: undefined, email: null }],
    ['no group any more', { groups: [] }],
  ])('writes who is changed in one thing alone: %s', (_, change) => {
    expect(plan({ msisdn: ANNA, change }).contacts.get(ANNA)).toMatchObject({ id: 'ct_anna', changed: true });
  });

  it('writes who is new, though nothing is said but the number, and what an earlier change said', () => {
    const { outcomes, contacts } = plan(
      { msisdn: JAN, change: {} },
      { msisdn: JAN, change: {} },
      { msisdn: ANNA, change: { last_name: 'Nowak' } },
      { msisdn: ANNA, change: {} },
    );
    expect(outcomes).toEqual(['created', 'updated', 'updated', 'updated']);
    expect(contacts.get(JAN)).toMatchObject({ content: EMPTY_CONTACT, changed: true });
    expect(contacts.get(ANNA)).toMatchObject({ content: { lastName: 'Nowak' }, changed: true });
  });

  it('makes a group once, in its first spelling', () => {
    const { newGroups, contacts } = plan(
      { msisdn: JAN, change: { groups: ['VIP', 'vip'] } },
      { msisdn: EWA, change: { groups: ['vip', 'Klienci'] } },
    );
    expect([...newGroups]).toEqual([['gr_new1', 'VIP']]);
    expect(contacts.get(JAN)?.groups).toEqual(new Set(['gr_new1']));
    expect(contacts.get(EWA)?.groups).toEqual(new Set(['gr_new1', 'gr_old']));
  });

  it('takes a group by its id', () => {
    const { outcomes, contacts } = plan({ msisdn: JAN, change: { groups: ['gr_old'] } });
    expect(outcomes).toEqual(['created']);
    expect(contacts.get(JAN)?.groups).toEqual(new Set(['gr_old']));
  });

  it('refuses what is meant as an id of a group that is not there', () => {
    const { outcomes, contacts, newGroups } = plan({
      ...{ msisdn: JAN, change: { groups: ['VIP', 'gr_mistyped'] } },
    });
    expect(refusals(outcomes)).toEqual([[{ reason: 'group_unknown', group: 'gr_mistyped' }, 'groups']]);
    expect(contacts.has(JAN)).toBe(false);
    expect(newGroups.size).toBe(0);
  });

  it('stops at the room for contacts; those that are there can still be changed', () => {
    const msisdns = [JAN, EWA, '+48500100203', ANNA];
    const { outcomes } = plan(...msisdns.map((msisdn) => ({ msisdn, change: { last_name: 'x' } })));
    expect(refusals(outcomes)).toEqual([
      'created',
      'created',
      [{ reason: 'quota_reached', quota: 'contacts', limit: 10 }, 'msisdn'],
      'updated',
    ]);
  });

  it('the groups of a book that is fuller than its limit can be named', () => {
    const overfull = { ...BOOK, used: { contacts: 8, groups: 5 } };
    const named = (name: string) => [{ msisdn: ANNA, change: { groups: [name] } }];
    expect(planIn(overfull, named('Klienci')).outcomes).toEqual(['updated']);
    expect(refusals(planIn(overfull, named('VIP')).outcomes)).toEqual([
      [{ reason: 'quota_reached', quota: 'groups', limit: 4 }, 'groups'],
    ]);
  });

  it('stops at the room for groups; those that were made before can be named again', () => {
    const { outcomes } = plan(
      { msisdn: JAN, change: { groups: ['VIP'] } },
      { msisdn: EWA, change: { groups: ['Nowi'] } },
      { msisdn: EWA, change: { groups: ['vip'] } },
    );
    expect(refusals(outcomes)).toEqual([
      'created',
      [{ reason: 'quota_reached', quota: 'groups', limit: 4 }, 'groups'],
      'created',
    ]);
  });

  it('a group that only a refused change names is not made, and takes no room', () => {
    const tooMany = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'x']));
    const { outcomes, newGroups } = plan(
      { msisdn: JAN, change: { fields: tooMany, groups: ['VIP'] } },
      { msisdn: EWA, change: { groups: ['Nowi'] } },
    );
    expect(refusals(outcomes)).toEqual([[{ reason: 'fields_too_many', limit: 20 }, 'fields'], 'created']);
    expect([...newGroups]).toEqual([['gr_new1', 'Nowi']]);
  });
});
