import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate signed by its own key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

const OID = {
  ecdsaSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  subjectAltName: [0x55, 0x1d, 0x11],
  basicConstraints: [0x55, 0x1d, 0x13],
};

/** Makes a certificate for 127.0.0.1 and a name, valid for a day (RFC 5280), because Node can only read them. */
export function selfSigned(name = 'localhost'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(OID.ecdsaSha256));
  const subject = sequence(set(sequence(oid(OID.commonName), der(0x0c, Buffer.from(name)))));
  const now = Date.now();
  const alternatives = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    sequence(oid(OID.basicConstraints), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
    sequence(oid(OID.subjectAltName), der(0x04, alternatives)),
  );
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    subject,
    sequence(time(now - 3_600_000), time(now + 86_400_000)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', content, privateKey);
  const whole = sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g)!;
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const size = Buffer.from(content.length.toString(16).padStart(4, '0'), 'hex');
  const length =
    content.length < 128 ? [content.length] : content.length < 256 ? [0x81, content.length] : [0x82, ...size];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...items: Buffer[]): Buffer => der(0x30, Buffer.concat(items));
const set = (item: Buffer): Buffer => der(0x31, item);
const oid = (numbers: number[]): Buffer => der(0x06, Buffer.from(numbers));

function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}
