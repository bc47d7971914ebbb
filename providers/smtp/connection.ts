import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { problemOf, type Problem, replyOf, type Reply } from './replies.ts';
import type { SmtpCredentials, SmtpSettings } from './settings.ts';

const REPLY_BYTES = 64 * 1024;
const WHOLE_TIMES = 4;

export const wholeHandOverMs = ({ responseSeconds }: Pick<SmtpSettings, 'responseSeconds'>): number =>
  WHOLE_TIMES * responseSeconds * 1000;

export interface OutgoingMessage {
  from: string;
  to: readonly string[];
  bytes: number;
  content: () => AsyncIterable<Buffer>;
  /** Called after the replies for all recipients, at least one of them positive, and before the message is written; false aborts. */
  goOn: (refused: readonly RefusedRecipient[]) => boolean;
}

/** `reply` is null when it made no sense. */
export interface RefusedRecipient {
  address: string;
  reply: Reply | null;
}

/** Outcome of a hand-over. Except after `taken` and `unknown` the relay certainly has nothing. */
export type HandOver =
  | { kind: 'taken'; refused: readonly RefusedRecipient[] }
  /** A negative reply; `data`: before anything of the message was written. */
  | { kind: 'answered'; to: 'sender' | 'data' | 'message'; reply: Reply }
  | { kind: 'no_recipients'; refused: readonly RefusedRecipient[] }
  | { kind: 'broken_off'; refused: readonly RefusedRecipient[] }
  | { kind: 'too_large' }
  | { kind: 'unreadable'; error: unknown }
  | { kind: 'lost'; problem: Problem }
  /** The whole message was written, and no answer came. */
  | { kind: 'unknown'; problem: Problem };

export interface Connection {
  /** Sends one message in one transaction; one at a time, and never throws. @param ms timeout in milliseconds */
  handOver(outgoing: OutgoingMessage, ms: number): Promise<HandOver>;
  usable(): boolean;
  end(): void;
}

type NodemailerFailure = Error & {
  code?: string | undefined;
  response?: string | undefined;
  command?: string | undefined;
};
// nodemailer writes its results into it.
interface Envelope {
  from: string;
  to: string[];
  size: number;
  /** Where the relay offers DSN (RFC 3461): bounces then contain only the headers of the e-mail, without its files. */
  dsn: { ret: 'HDRS' };
  rejectedErrors?: (NodemailerFailure & { recipient?: string | undefined })[];
  accepted?: string[];
}

// nodemailer reports a failure by an event, by a callback, or by both.
interface Wire {
  smtp: SMTPConnection;
  onFailure: (take: ((problem: Problem) => void) | null) => void;
}

/** Connects with TLS as set, EHLO, and login if there is a user, never over plain text. Problems have only the relay's reply codes. */
export async function openConnection(
  settings: SmtpSettings,
  credentials: SmtpCredentials,
  signal: AbortSignal,
): Promise<Connection | Problem> {
  if (signal.aborted) return { code: 'stopped' };
  const wire = wireOf(new SMTPConnection(optionsOf(settings)));
  const problem = await connect(wire, settings, credentials, signal);
  if (problem === null) return connectionOn(wire);
  wire.smtp.close();
  return problem;
}

function wireOf(smtp: SMTPConnection): Wire {
  let fail: ((problem: Problem) => void) | null = null;
  smtp.on('error', (error: NodemailerFailure) => fail?.(problemOf(error)));
  smtp.on('end', () => {
    const now = fail;
    // The callback comes after this event, and may know more.
    setImmediate(() => now?.({ code: 'connection_lost' }));
  });
  return { smtp, onFailure: (take) => void (fail = take) };
}

function connect(
  { smtp, onFailure }: Wire,
  { connectSeconds, security }: SmtpSettings,
  { user, password }: SmtpCredentials,
  signal: AbortSignal,
): Promise<Problem | null> {
  return new Promise((resolve) => {
    const done = (problem: Problem | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      onFailure(null);
      resolve(problem);
    };
    const stop = () => done({ code: 'stopped' });
    const timer = setTimeout(() => done({ code: 'connect_timed_out' }), connectSeconds * 1000);
    onFailure(done);
    signal.addEventListener('abort', stop, { once: true });
    smtp.connect((error) => {
      if (error !== undefined) return done(problemOf(error));
      if (security !== 'none' && !smtp.secure) return done({ code: 'no_tls' });
      if (user === undefined) return done(null);
      if (!smtp.secure) return done({ code: 'login_over_plain_text' });
      smtp.login({ user, pass: password ?? '' }, (refused) =>
        done(refused === null ? null : problemOf(refused)),
      );
    });
  });
}

function connectionOn(wire: Wire): Connection {
  const { smtp } = wire;
  let broken = false;
  const usable = () => !broken && !smtp.destroyed;
  return {
    usable,
    async handOver(outgoing, ms) {
      const result = await handOver(wire, outgoing, ms);
      // After any other outcome the next command might be read as part of the message.
      if (result.kind !== 'taken' && result.kind !== 'no_recipients') {
        broken = true;
        smtp.close();
      }
      return result;
    },
    end() {
      if (usable()) smtp.quit();
      // Close even if the relay does not answer the QUIT.
      setTimeout(() => smtp.close(), 1_000).unref();
    },
  };
}

function handOver(
  wire: Wire,
  { from, to, bytes, content, goOn }: OutgoingMessage,
  ms: number,
): Promise<HandOver> {
  return new Promise((resolve) => {
    const envelope: Envelope = { from, to: [...to], size: bytes, dsn: { ret: 'HDRS' } };
    let written = false;
    const refused = (): RefusedRecipient[] => (envelope.rejectedErrors ?? []).map(refusedRecipient);
    const done = (result: HandOver): void => {
      clearTimeout(timer);
      wire.onFailure(null);
      resolve(result);
    };
    const lost = (problem: Problem): void => done({ kind: written ? 'unknown' : 'lost', problem });
    // Started when the relay waits for the message. An error in it keeps the final dot from being written.
    const message = async function* () {
      if (!goOn(refused())) {
        done({ kind: 'broken_off', refused: refused() });
        throw new Error('broken off');
      }
      try {
        for await (const chunk of content()) yield chunk;
      } catch (error) {
        done({ kind: 'unreadable', error });
        throw error;
      }
      written = true;
    };
    const timer = setTimeout(() => lost({ code: 'timed_out' }), ms);
    wire.onFailure(lost);
    wire.smtp.send(envelope, Readable.from(message(), { objectMode: false }), (error) => {
      if (error === null) {
        if (!written) return done({ kind: 'unknown', problem: { code: 'answered_too_early' } });
        return done({ kind: 'taken', refused: refused() });
      }
      done(failedHandOver(error, written, refused()));
    });
  });
}

function failedHandOver(
  error: NodemailerFailure,
  written: boolean,
  refused: readonly RefusedRecipient[],
): HandOver {
  const reply = replyOf(error);
  const problem = problemOf(error);
  if (error.code === 'EMESSAGE' && reply === null && error.command === 'MAIL FROM')
    return { kind: 'too_large' };
  if (error.command === 'RCPT TO') {
    return refused.length > 0 ? { kind: 'no_recipients', refused } : { kind: 'lost', problem };
  }
  if (reply === null) return { kind: written ? 'unknown' : 'lost', problem };
  if (error.command === 'MAIL FROM') return { kind: 'answered', to: 'sender', reply };
  return { kind: 'answered', to: error.code === 'EMESSAGE' ? 'message' : 'data', reply };
}

function refusedRecipient(error: NodemailerFailure & { recipient?: string | undefined }): RefusedRecipient {
  return { address: error.recipient ?? '', reply: replyOf(error) };
}

function optionsOf(settings: SmtpSettings): SMTPConnection.Options {
  const { host, port, security, mailHost, tlsCa, tlsServerName, tlsInsecure } = settings;
  const connectMs = settings.connectSeconds * 1000;
  return {
    host,
    port,
    name: mailHost,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: {
      minVersion: 'TLSv1.2',
      rejectUnauthorized: !tlsInsecure,
      ...(tlsCa === undefined ? {} : { ca: tlsCa }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    },
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: settings.responseSeconds * 1000,
    socketCloseTimeout: 1_000,
    maxResponseSize: REPLY_BYTES,
    allowInternalNetworkInterfaces: true,
    logger: false,
  };
}
