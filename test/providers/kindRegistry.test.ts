import { describe, expect, test } from 'vitest';
import { providerKinds } from '../../providers/registry.ts';

const stored = (kind: string) => ({
  routes: [{ name: 'r', kind, state: 'active' as const, working: true, settings: {} }],
  rules: [],
});
const optionOf = (kind: string) => providerKinds.withTraits(stored(kind)).routes[0];

describe('the registry of kinds', () => {
  test('says of a route what its kind can carry', () => {
    expect(optionOf('smpp')).toMatchObject({ name: 'r', carries: ['sms'], simulated: false });
    expect(optionOf('smsapi')).toMatchObject({ carries: ['sms', 'mms', 'vms', 'hlr'], simulated: false });
    expect(optionOf('resend')).toMatchObject({ carries: ['email'], simulated: false });
    expect(optionOf('simulator')).toMatchObject({
      carries: ['sms', 'mms', 'vms', 'email', 'hlr'],
      simulated: true,
    });
  });

  test('gives nothing to a route of a kind that only a later release knows', () => {
    const known = { name: 'r', kind: 'pigeon', state: 'active', working: true };
    expect(optionOf('pigeon')).toEqual({ ...known, carries: [], simulated: false });
  });

  test('has no two kinds of one name, and no option that two kinds read in different ways', () => {
    const names = providerKinds.all.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const options of [
      providerKinds.all.map((kind) => kind.options),
      providerKinds.all.map(({ secret }) => secret?.options ?? {}),
    ]) {
      const read = new Map<string, unknown>();
      for (const [name, option] of options.flatMap((of) => Object.entries(of))) {
        expect(option.read).toEqual(read.get(name) ?? option.read);
        read.set(name, option.read);
      }
    }
  });

  test('has callbacks with a proof only', () => {
    for (const { callbacks } of providerKinds.all) {
      for (const { path } of Object.values(callbacks?.calls ?? {})) expect(path).toContain(':secret');
    }
  });
});
