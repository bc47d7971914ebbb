import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import MessageParser, { type Header } from 'nodemailer/lib/dkim/message-parser.js';
import RelaxedBody from 'nodemailer/lib/dkim/relaxed-body.js';
import sign from 'nodemailer/lib/dkim/sign.js';
import type { SigningDomain } from '../email.ts';

// List-Unsubscribe-Post has to be among them (RFC 8058, 4).
const SIGNED = [
  ...['From', 'Reply-To', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'In-Reply-To', 'References'],
  ...[
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
  ],
].join(':');

/** A message with its signature. */
export interface SignedMessage {
  /** As it is written, without what SMTP adds to it. */
  bytes: number;
  /** Reads it; as often as wanted. */
  content: () => AsyncGenerator<Buffer>;
}

/**
 * Signs a message (DKIM, RFC 6376; rsa-sha256, relaxed/relaxed). The signature stands before what it signs, so the message is
 * written twice: once for the hash, once to be sent. Nothing of it is kept meanwhile.
 *
 * @param compose writes the message, the same at each call
 * @throws what reading the files throws; Error where the key signs nothing
 */
export async function signed(compose: () => Readable, domain: SigningDomain): Promise<SignedMessage> {
  let headers: Header[] = [];
  let hash = '';
  const parser = new MessageParser();
  const body = new RelaxedBody();
  parser.on('headers', (lines: Header[]) => (headers = lines));
  body.on('hash', (base64: string) => (hash = base64));
  const away = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(compose(), parser, body, away);
  const keys = {
    domainName: domain.name,
    keySelector: domain.selector,
    privateKey: domain.privateKey,
    headerFieldNames: SIGNED,
  };
  const field = sign(headers, 'sha256', hash, keys);
  if (field === false) throw new Error('the key of a sender domain signs nothing');
  const first = Buffer.from(`${field}\r\n`, 'latin1');
  return {
    bytes: first.length + parser.headerBytes + body.byteLength,
    async *content() {
      yield first;
      for await (const chunk of compose()) yield chunk as Buffer;
    },
  };
}
