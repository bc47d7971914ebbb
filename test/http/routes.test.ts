import { z } from 'zod';
import { expect, test } from 'vitest';
import { hasSideEffects, endpoint, ownerOf, publicOwner, routesOf } from '../../api/http/endpoint.ts';
import type { Interface } from '../../domain/ids.ts';
import { HttpRefused } from '../../api/http/refusals.ts';

interface Traits {
  of?: Interface;
  method?: 'GET' | 'POST';
  path?: string;
  scope?: 'read' | null;
  changes?: boolean;
}

const declared = ({ of, method = 'GET', path = '/v1/messages', scope = 'read', changes = false }: Traits) =>
  endpoint({
    ...(of === undefined ? {} : { interface: of }),
    ...{ method, path, scope, sideEffects: changes },
    id: 'answer',
    summary: 'Answers.',
    description: 'An answer.',
    responses: { 200: z.string() },
    handle: () => Promise.resolve({ status: 200, body: of ?? 'none' }),
  });

test('two interfaces own the same method and path, and each has its own endpoint there', () => {
  const [earlier, current] = [declared({ of: 'v1' }), declared({ of: 'v2', changes: true })];
  const routes = routesOf([earlier, current]);
  expect(routes).toHaveLength(1);
  expect(ownerOf(routes[0]!, 'v1')).toBe(earlier);
  expect(ownerOf(routes[0]!, 'v2')).toBe(current);
  expect(publicOwner(routes[0]!)).toBeNull();
  expect(hasSideEffects(routes[0]!)).toBe(true);
});

test('what an interface does not declare does not exist for its keys', () => {
  const [route] = routesOf([declared({})]);
  expect(() => ownerOf(route!, 'v1')).toThrow(HttpRefused);
  expect(() => ownerOf(route!, 'v1')).toThrow('route_unknown');
});

test('one interface declares a method and path once', () => {
  expect(() => routesOf([declared({}), declared({ of: 'v2' })])).toThrow(
    'v2 declares GET /v1/messages twice',
  );
});

test('a public endpoint shares its method and path with none: without a key nobody can tell which is meant', () => {
  const open = declared({ scope: null });
  expect(publicOwner(routesOf([open])[0]!)).toBe(open);
  expect(() => routesOf([open, declared({ of: 'v1' })])).toThrow('several owners');
});
