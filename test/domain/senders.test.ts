import { expect, test } from 'vitest';
import { isSenderName } from '../../domain/msisdn.ts';

test.each(['A', 'SKLEP.PL', 'H&M', 'Moj-Bank_24', '4F', 'Ab Cd Ef Gh', '112', '123456789012345'])(
  '%j can be a sender',
  (input) => {
    expect(isSenderName(input)).toBe(true);
  },
);

test.each([
  '',
  ' ',
  'DwanascieZna',
  'Żabka',
  ' Sklep',
  'Sklep ',
  '.pl',
  'A\n',
  'A\u00a0B',
  'Сбер',
  'A/B',
  '12',
  '12.5',
  '1234567890123456',
  '+48500100200',
  '٠١٢',
])('%j cannot', (input) => {
  expect(isSenderName(input)).toBe(false);
});
