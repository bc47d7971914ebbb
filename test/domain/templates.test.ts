import { describe, expect, test } from 'vitest';
import {
  changedTemplate,
  TEMPLATE_BODY_MAX,
  TEMPLATE_TYPES,
  type TemplateContent,
  type TemplatePatch,
} from '../../domain/placeholders.ts';

test('a body has up to 10,000 characters, a SMIL document of an `mms` 100,000', () => {
  expect(TEMPLATE_BODY_MAX).toEqual({ sms: 10_000, mms: 100_000, vms: 10_000 });
  expect(Object.keys(TEMPLATE_BODY_MAX).sort()).toEqual([...TEMPLATE_TYPES].sort());
});

describe('a change of a template', () => {
  const stored: TemplateContent = { name: 'Powitanie', type: 'mms', body: '<smil/>', subject: 'Dzień dobry' };

  test.each<[TemplatePatch, TemplateContent]>([
    [{}, { name: 'Powitanie', type: 'mms', body: '<smil/>', subject: 'Dzień dobry' }],
    [{ body: '' }, { name: 'Powitanie', type: 'mms', body: '', subject: 'Dzień dobry' }],
    [{ subject: undefined }, { name: 'Powitanie', type: 'mms', body: '<smil/>', subject: 'Dzień dobry' }],
    [{ subject: null }, { name: 'Powitanie', type: 'mms', body: '<smil/>', subject: null }],
    [
      { name: 'A', type: 'vms', body: 'B', subject: 'C' },
      { name: 'A', type: 'vms', body: 'B', subject: 'C' },
    ],
  ])('%j leaves what it does not name', (patch, content) => {
    expect(changedTemplate(stored, patch)).toEqual(content);
  });

  test('keeps nothing but the content of what was stored', () => {
    const row = { ...stored, id: 'tpl_1', createdAt: new Date(0) };
    expect(changedTemplate(row, { name: 'Start' })).toEqual({ ...stored, name: 'Start' });
  });

  test('leaves the stored one as it was', () => {
    const before = { ...stored };
    changedTemplate(stored, { name: 'Start', subject: null });
    expect(stored).toEqual(before);
  });
});
