import { createHmac, timingSafeEqual } from 'node:crypto';
import { optionsOf } from '../../domain/sms.ts';

/**
 * The code of a verification, which is stored nowhere: HMAC-SHA256 of its id with the secrets key, truncated. So a repeated SMS has the same
 * code, and neither a message nor a copy of the database shows one.
 */
function codeOf(secretsKey: Buffer, id: string, length: number): string {
  const hash = createHmac('sha256', secretsKey).update(`verification:${id}`).digest();
  return String(hash.readUIntBE(0, 6) % 10 ** length).padStart(length, '0');
}

/** Compares in constant time. */
export function isCodeOf(
  secretsKey: Buffer,
  { id, codeLength }: { id: string; codeLength: number },
  given: string,
): boolean {
  const code = Buffer.from(codeOf(secretsKey, id, codeLength));
  const guess = Buffer.from(given);
  return guess.length === code.length && timingSafeEqual(guess, code);
}

export const maskedCode = (length: number): string => '*'.repeat(length);

/** A message as it is submitted: with the code in place of its asterisks, if it is the SMS of a verification. */
export function withCode<Message extends { text: string; content: object | null }>(
  secretsKey: Buffer,
  message: Message,
): Message {
  const { verification } = optionsOf(message.content);
  if (verification === undefined) return message;
  const text = message.text.replace(/\*+/, ({ length }) => codeOf(secretsKey, verification, length));
  return { ...message, text, content: null };
}
