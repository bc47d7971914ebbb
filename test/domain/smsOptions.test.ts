import { expect, test } from 'vitest';
import { rulesOf } from '../../domain/channels.ts';
import { optionsOf, storedOptions } from '../../domain/sms.ts';

test.each([
  [{ flash: false, ucs2: false }, null],
  [{ flash: true, ucs2: false }, { flash: true }],
  [{ flash: false, ucs2: true }, { ucs2: true }],
  [
    { flash: true, ucs2: true },
    { flash: true, ucs2: true },
  ],
])('of %j there is stored %j, which is read as the same', (options, stored) => {
  expect(storedOptions(options)).toEqual(stored);
  expect(optionsOf(stored)).toEqual(options);
});

test('an SMS that goes as UCS-2 is billed as that, though GSM-7 has its text', () => {
  const text = 'a'.repeat(71);
  const measured = (content: object | null) => rulesOf('sms').measure({ text, content });
  expect(measured(null)).toMatchObject({ encoding: 'gsm7', parts: 1 });
  expect(measured({ flash: true })).toMatchObject({ encoding: 'gsm7', parts: 1 });
  expect(measured({ ucs2: true })).toMatchObject({ encoding: 'ucs2', parts: 2 });
});
