import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { PANEL_URL } from './panel.ts';

const PRESENT_AND_VERIFIED = 0x05;
const WITH_KEY = 0x40;

/** What a browser is asked for, as far as an authenticator reads it. */
interface Options {
  challenge: string;
}

/** What an authenticator may get wrong. */
interface Answer {
  origin?: string;
  host?: string;
  flags?: number;
  counter?: number;
}

/** An authenticator with one passkey (ES256, attestation `none`), and the browser that asks it. */
export interface Authenticator {
  id: string;
  create(options: Options, answer?: Answer): string;
  get(options: Options, answer?: Answer): string;
}

export function newAuthenticator(): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const credential = randomBytes(32);
  const id = credential.toString('base64url');
  let used = 0;

  const coordinate = (key: number, value = '') =>
    Buffer.concat([Buffer.of(key, 0x58, 32), Buffer.from(value, 'base64url')]);
  // A COSE key: EC2, ES256, P-256.
  const cose = Buffer.concat([
    Buffer.from('a5010203262001', 'hex'),
    ...[coordinate(0x21, x), coordinate(0x22, y)],
  ]);

  const clientData = (type: string, { challenge }: Options, { origin = PANEL_URL }: Answer) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const data = (more: number, { host = new URL(PANEL_URL).hostname, flags, counter }: Answer) => {
    const head = Buffer.alloc(37, sha256(host));
    head[32] = (flags ?? PRESENT_AND_VERIFIED) | more;
    head.writeUInt32BE(counter ?? (used += 1), 33);
    return head;
  };
  const response = (fields: Record<string, Buffer>) =>
    JSON.stringify({
      ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
      response: Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name, value.toString('base64url')]),
      ),
    });

  return {
    id,
    create(options, answer = {}) {
      const aaguid = Buffer.alloc(16);
      const authData = Buffer.concat([data(WITH_KEY, answer), aaguid, Buffer.of(0, 32), credential, cose]);
      const head = Buffer.from('\u00a3cfmtdnonegattStmt\u00a0hauthDataX', 'latin1');
      const attestationObject = Buffer.concat([head, Buffer.of(authData.length), authData]);
      return response({ clientDataJSON: clientData('webauthn.create', options, answer), attestationObject });
    },
    get(options, answer = {}) {
      const clientDataJSON = clientData('webauthn.get', options, answer);
      const authenticatorData = data(0, answer);
      const signature = sign(
        'sha256',
        Buffer.concat([authenticatorData, sha256(clientDataJSON)]),
        privateKey,
      );
      return response({ clientDataJSON, authenticatorData, signature });
    },
  };
}

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
