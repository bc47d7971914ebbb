import type { SmppSettings } from './settings.ts';

const MINUTE_MS = 60_000;
const LONGEST_MS = 30 * 24 * 60 * MINUTE_MS;

/**
 * The validity_period of a message (SMPP 3.4, 7.1.1), seconds rounded down: absolute `YYMMDDhhmmss000+` in UTC, relative
 * `YYMMDDhhmmss000R`, or '' for the SMSC's own. At least a minute from now, since SMSCs refuse what is over already, and
 * at most 30 days.
 */
export function validityPeriod(expiresAt: Date, now: Date, form: SmppSettings['validity']): string {
  const left = Math.min(Math.max(expiresAt.getTime() - now.getTime(), MINUTE_MS), LONGEST_MS);
  switch (form) {
    case 'absolute':
      return `${digitsOf(new Date(now.getTime() + left))}000+`;
    case 'relative':
      return `${duration(left)}000R`;
    case 'none':
      return '';
  }
}

// 2026-11-21T12:00:00.000Z → 261121120000
function digitsOf(instant: Date): string {
  return instant.toISOString().slice(2, 19).replace(/\D/g, '');
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const units = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  return `0000${[...units, seconds % 60].map((n) => String(n).padStart(2, '0')).join('')}`;
}
