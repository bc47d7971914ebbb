import { ALL_OF_GSM7 } from './text.ts';

/** Texts in which something is easily lost, with the number of parts each has and its data_coding. */
export const SAMPLES: readonly { name: string; text: string; parts: number; dataCoding: 0 | 8 }[] = [
  {
    name: 'every character of GSM-7, the extension table too',
    text: ALL_OF_GSM7.basic + ALL_OF_GSM7.extension,
    parts: 1,
    dataCoding: 0,
  },
  { name: 'a full part of GSM-7', text: `${'@'.repeat(159)}à`, parts: 1, dataCoding: 0 },
  { name: 'Polish', text: 'Zażółć gęślą jaźń. ZAŻÓŁĆ GĘŚLĄ JAŹŃ', parts: 1, dataCoding: 8 },
  { name: 'emoji', text: 'Paczka 📦 w drodze 👩‍👩‍👧 🇵🇱', parts: 1, dataCoding: 8 },
  {
    name: 'three parts of GSM-7, extended characters across the borders',
    text: `${'a'.repeat(152)}€${'b'.repeat(150)}{}${'@'.repeat(20)}\n\rkoniec|`,
    parts: 3,
    dataCoding: 0,
  },
  {
    name: 'three parts of UCS-2, emoji across the borders',
    text: `${'ż'.repeat(66)}😀${'ó'.repeat(64)}👍${'ł'.repeat(10)}🎉`,
    parts: 3,
    dataCoding: 8,
  },
];
