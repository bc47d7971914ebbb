import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

const BITS = 2048;
const generate = promisify(generateKeyPair);

/** What a domain's e-mails are signed with (DKIM). */
export interface KeyPair {
  /** Base64 of its DER form, as DNS has it. */
  publicKey: string;
  /** PEM (PKCS #8). */
  privateKey: string;
}

/** Makes a key pair, RSA 2048, beside the event loop: it takes a tenth of a second or more. */
export async function newKeyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('rsa', {
    modulusLength: BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: publicKey.toString('base64'), privateKey };
}
