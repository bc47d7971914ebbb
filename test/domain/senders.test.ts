import { expect, test } from 'vitest';
import { isSenderName } from '../../domain/msisdn.ts';

test.each([
  'A',
  'Goniec',
  'SKLEP.PL',
  'H&M',
  'Moj-Bank_24',
  '4F',
  'Ab Cd Ef Gh',
  '112',
  '48500100200',
  '123456789012345',
])('%j can be a sender', (input) => {
  expect(isSenderName(input)).toBe(true);
});

test.each([
  '',
  ' ',
  'DwanascieZna',
  'Żabka',
  ' Sklep',
  'Sklep ',
  '.pl',
  '-A',
  'A\n',
  'A\0',
  'A\u00a0B',
  'Сбер',
  'A/B',
  'A+B',
  '12',
  '12.5',
  '1234567890123456',
  '+48500100200',
  '112\n',
  '٠١٢',
])('%j cannot', (input) => {
  expect(isSenderName(input)).toBe(false);
});
