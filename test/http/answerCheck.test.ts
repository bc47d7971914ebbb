import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { contactSchema } from '../../api/contacts/record.ts';
import { checkAnswer } from '../../api/http/answerCheck.ts';
import { pageSchema } from '../../api/paging.ts';
import type { Pace } from '../../operations/pace.ts';

/** Due at each look. @returns how often others were let first */
function restless(): Pace & { rests: () => number } {
  let rests = 0;
  return { due: () => true, rest: () => Promise.resolve(void (rests += 1)), rests: () => rests };
}

const contact = (groups: unknown) => ({
  ...{ id: 'ct_1', msisdn: '+48500100200', first_name: null, last_name: null, email: null, fields: {} },
  ...{ groups, created_at: '2026-11-21T10:00:00.000Z', updated_at: '2026-11-21T10:00:00.000Z' },
});
const page = pageSchema(contactSchema);

describe('an answer is looked at', () => {
  it('element by element, and others come first in between', async () => {
    const groups = Array.from({ length: 100 }, (_, i) => ({ id: `gr_${i}`, name: 'ż'.repeat(80) }));
    const pages = { data: Array.from({ length: 200 }, () => contact(groups)), next_cursor: null };
    const pace = restless();
    expect(await checkAnswer(page, pages, pace)).toEqual({ success: true, data: pages });
    expect(pace.rests()).toBe(200);
    const one = restless();
    expect((await checkAnswer(contactSchema, contact(groups), one)).success).toBe(true);
    expect(one.rests()).toBe(100);
  });

  it.each([
    ['an element that is none', { data: [contact([]), contact(['x'])], next_cursor: null }],
    ['a field beside the list', { data: [], next_cursor: 7 }],
    ['a field that is not there', { data: [] }],
    ['a field too many', { data: [], next_cursor: null, total: 1 }],
    ['no list', { data: {}, next_cursor: null }],
    ['nothing', undefined],
  ])('and %s is seen', async (_, body) => {
    expect((await checkAnswer(page, body, restless())).success).toBe(false);
  });
});

test('what an answer comes to is what its schema says', async () => {
  const element = z.strictObject({
    id: z.number().transform((id) => String(id)),
    names: z.array(z.string()),
  });
  const some = z.array(element);
  const schemas = [
    z.strictObject({ data: some, next: z.string().nullable() }),
    z.object({ data: some.optional(), next: z.string().optional() }),
    z.strictObject({ data: some.max(2), next: z.null() }),
    z.strictObject({ data: some, next: z.null() }).refine(({ data }) => data.length !== 1),
    z.union([some, z.strictObject({ data: some, next: z.null() })]),
  ];
  const id = fc.oneof(fc.integer(), fc.constant('x'));
  const elements = fc.array(fc.record({ id: fc.integer(), names: fc.array(fc.string(), { maxLength: 3 }) }));
  const bodies = fc.oneof(
    fc.record({ data: elements, next: fc.constant(null) }),
    fc.record(
      {
        data: fc.oneof(elements, fc.array(fc.record({ id })), fc.string()),
        next: fc.constantFrom(null, 'x'),
      },
      { requiredKeys: [] },
    ),
    elements,
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...schemas), bodies, async (schema, body) => {
      const expected = schema.safeParse(body);
      const { success, data } = await checkAnswer(schema, body, restless());
      expect({ success, data: JSON.stringify(data) }).toEqual({
        success: expected.success,
        data: JSON.stringify(expected.data),
      });
    }),
  );
});
