import { Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
/** Steps of 30 s by which a clock may be wrong. */
const WINDOW = 1;

/** A secret as it is shown: 160 bits in base32. */
export const TOTP_SECRET = /^[A-Z2-7]{32}$/;
export const TOTP_CODE = /^\d{6}$/;

export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The address that an authenticator app reads from a QR code. */
export function totpAddress(secret: string, person: string): string {
  return new TOTP({ issuer: 'Goniec', label: person, secret }).toString();
}

/** The step that a code belongs to; null for a wrong one. @param now epoch milliseconds */
export function stepOf(secret: string, code: string, now: number): number | null {
  const totp = new TOTP({ secret });
  const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? null : totp.counter({ timestamp: now }) + delta;
}
