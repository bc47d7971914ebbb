import { Secret } from 'otpauth';

const CODES = 10;
const CODE_BYTES = 10;
const CODE = /^[A-Z2-7]{16}$/;

/** Ten codes of 80 bits in base32, which nobody guesses: their hashes need no salt, and their use no limit. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => new Secret({ size: CODE_BYTES }).base32);
}

/** @param code in upper case, without spaces and hyphens */
export function isRecoveryCode(code: string): boolean {
  return CODE.test(code);
}
