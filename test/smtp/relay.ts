import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { selfSigned } from '../smsc/certificate.ts';

/** What a relay was given. */
export interface Relayed {
  from: string;
  to: string[];
  raw: Buffer;
  mail: ParsedMail;
  /** Whether it came over TLS, and from whom. */
  secure: boolean;
  user: string | undefined;
}

/** A mail server written by others, which keeps what it is given. */
export interface Relay {
  port: number;
  /** Of its certificate, for 127.0.0.1. */
  ca: string;
  mails: Relayed[];
  close(): Promise<void>;
}

const { cert, key } = selfSigned();

/** @param options of the server; unless given it wants STARTTLS, and a login as `goniec` with `tajne` */
export async function startRelay(options: SMTPServerOptions = {}): Promise<Relay> {
  const mails: Relayed[] = [];
  const server = new SMTPServer({
    ...{ cert, key, logger: false, disableReverseLookup: true, closeTimeout: 100 },
    onAuth: ({ username, password }, _session, done) =>
      username === 'goniec' && password === 'tajne'
        ? done(null, { user: username })
        : done(Object.assign(new Error('no'), { responseCode: 535 })),
    onData(stream, { envelope, secure, user }, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const raw = Buffer.concat(pieces);
        void simpleParser(raw).then((mail) => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          const to = envelope.rcptTo.map(({ address }) => address);
          mails.push({ from, to, raw, mail, secure, user: user as string | undefined });
          done(null, '2.0.0 Ok: queued as 4XyZ');
        }, done);
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    ca: cert,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The addresses of a header, as they were parsed. */
export function addressesOf(header: AddressObject | AddressObject[] | undefined): string[] {
  return [header ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address ?? ''));
}
