import { z } from 'zod';
import { closedProvider } from '../../providers/provider.ts';
import { DomainProblem, type ProviderDomain } from '../../providers/email.ts';
import { providerKind } from '../../providers/kind.ts';

/** The list of domains of a provider that stands for those that keep one. */
export const list = {
  domains: new Map<string, ProviderDomain>(),
  /** It gives no answer. */
  isAway: false,
  made: 0,
};

function there<T>(answer: () => T): Promise<T> {
  return list.isAway
    ? Promise.reject(new DomainProblem('the provider is away'))
    : Promise.resolve().then(answer);
}

const idOf = (name: string): string | undefined =>
  [...list.domains.values()].find(({ records }) => records[0]?.name === `key.${name}`)?.id;

/** Lets the provider see, or lose, the records of a domain. */
export function prove(name: string, verified: boolean): void {
  const id = idOf(name)!;
  const { records } = list.domains.get(id)!;
  list.domains.set(id, { id, verified, records: records.map((one) => ({ ...one, seen: verified })) });
}

/** A kind of provider that carries e-mail and keeps a list of domains. */
export const listed = providerKind({
  name: 'listed',
  channels: [],
  email: {
    domains: {
      by: 'provider',
      add: (_settings, _credentials, name) =>
        there(() => {
          const known = idOf(name);
          if (known !== undefined) return list.domains.get(known)!;
          const id = `d-${(list.made += 1)}`;
          const key = {
            type: 'CNAME',
            name: `key.${name}`,
            value: `${id}.listed.example`,
            priority: null,
          } as const;
          const added = { id, verified: false, records: [{ ...key, purpose: 'dkim' as const, seen: false }] };
          list.domains.set(id, added);
          return added;
        }),
      check: (_settings, _credentials, id) => there(() => list.domains.get(id) ?? null),
      remove: (_settings, _credentials, id) => there(() => void list.domains.delete(id)),
    },
  },
  looksUp: false,
  settings: z.strictObject({}),
  options: {},
  credentials: z.null(),
  open: ({ name }) => Promise.resolve(closedProvider(name, null)),
  test: () => Promise.resolve({ ok: true, answer: 'here' }),
});
