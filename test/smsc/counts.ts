import type { Submit } from './behaviour.ts';
import { partOf } from './text.ts';

/** Which part for whom; in tests a number gets one message. */
export const partKey = (submit: Submit): string => `${submit.destination}/${partOf(submit)?.number ?? 1}`;

/** The most submits that certainly came within one second, wherever it begins. */
export function busiestSecond(submits: Pick<Submit, 'at' | 'notBefore'>[]): number {
  const counts = submits.map(
    ({ notBefore }) =>
      submits.filter((one) => one.notBefore >= notBefore && one.at < notBefore + 1_000).length,
  );
  return Math.max(0, ...counts);
}

/** Submits per second from the first to the last. */
export function averageRate(submits: Pick<Submit, 'at'>[]): number {
  const span = submits.at(-1)!.at - submits[0]!.at;
  return ((submits.length - 1) * 1_000) / span;
}
