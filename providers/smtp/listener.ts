import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { type Counts, createCounts } from '../../concurrency/semaphore.ts';
import { createTaskTracker, repeat, withTimeout } from '../../concurrency/tasks.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import type { ProviderHandlers } from '../provider.ts';
import { createBeginning } from './replies.ts';
import { READ_BYTES } from './message.ts';
import { readReturned, type Returned } from './reports.ts';
import { emailOfReturnPath, listenAddress, type SmtpCredentials, type SmtpSettings } from './settings.ts';

// A bounce may contain the whole e-mail: 10 MB of files in base64, and what relays add. Little of it is kept.
const BYTES_MAX = 25_000_000;
const CONNECTIONS_MAX = 40;
// Per network, as anyone can have many IPv6 addresses.
const CONNECTIONS_EACH = 10;
// Per connection; reading each blocks the worker's event loop for some milliseconds.
const MESSAGES_EACH = 50;
// More than the honest bounces of an e-mail with all its recipients.
const MESSAGES_OF_AN_EMAIL = 200;
const COUNTED_MS = 3_600_000;
const STORED_WITHIN_MS = 20_000;
const TRY_AGAIN_MS = 15_000;

export interface BounceLimits {
  silenceMs: number;
  connectionMs: number;
}

const LIMITS: BounceLimits = { silenceMs: 30_000, connectionMs: 120_000 };

export interface BounceListener {
  /** Starts to listen, and retries while another process has the port. Does nothing when no address is set. */
  start(handlers: Pick<ProviderHandlers, 'onEmailEvents'>): void;
  stop(): Promise<void>;
}

// A reply to the sending server: it has to retry (4xx), or never to (5xx).
class SmtpAnswer extends Error {
  constructor(
    readonly responseCode: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * An SMTP server (RFC 5321) that accepts only messages to return paths of the route, after storing their events. Every other address gets
 * the same "no such mailbox", so that return paths cannot be probed.
 */
export function createBounceListener(
  { bounces, mailHost }: Pick<SmtpSettings, 'bounces' | 'mailHost'>,
  { returnPathKey, former }: Pick<SmtpCredentials, 'returnPathKey' | 'former'>,
  onError: (error: unknown) => void,
  limits = LIMITS,
): BounceListener {
  const where = bounces === undefined ? null : listenAddress(bounces);
  const storing = createTaskTracker();
  let trying: ReturnType<typeof repeat> | null = null;
  let server: SMTPServer | null = null;

  const keys = (): string[] =>
    former !== undefined && former.until > Date.now()
      ? [returnPathKey, former.returnPathKey]
      : [returnPathKey];

  const listen = async (handlers: Pick<ProviderHandlers, 'onEmailEvents'>): Promise<void> => {
    if (where === null || server !== null) return;
    const opened = smtpServer(mailHost, keys, limits, (returned) => {
      const stored = store(returned, handlers);
      storing.add(stored);
      return stored;
    });
    // Broken connections are not our fault; a failure to listen is caught below.
    opened.on('error', () => undefined);
    try {
      await once(opened.listen(where.port, where.host), 'listening');
    } catch (error) {
      // Another worker on this machine has the port.
      if (isInUse(error)) return;
      throw error;
    }
    server = opened;
  };

  return {
    start(handlers) {
      if (where !== null) trying = repeat(TRY_AGAIN_MS, () => listen(handlers), onError);
    },
    async stop() {
      await trying?.stop();
      const closing = server;
      if (closing !== null) {
        await withTimeout(storing.settled(), STORED_WITHIN_MS, () => undefined);
        await new Promise<void>((resolve) => closing.close(() => resolve()));
      }
    },
  };

  async function store(
    returned: Returned,
    { onEmailEvents }: Pick<ProviderHandlers, 'onEmailEvents'>,
  ): Promise<void> {
    const events = readReturned(returned);
    if (events.length === 0) return;
    try {
      await withTimeout(onEmailEvents(events), STORED_WITHIN_MS, () => {
        throw new Error('a bounce was not stored in time');
      });
    } catch (error) {
      onError(error);
      throw new SmtpAnswer(451, '4.3.0 Try again later');
    }
  }
}

function smtpServer(
  name: string,
  keys: () => string[],
  { silenceMs, connectionMs }: BounceLimits,
  store: (returned: Returned) => Promise<void>,
): SMTPServer {
  const from = createCounts();
  const about = messagesOfTheHour();
  const server = new SMTPServer({
    name,
    banner: 'bounces only',
    size: BYTES_MAX,
    disabledCommands: ['AUTH', 'STARTTLS', 'XCLIENT', 'XFORWARD'],
    authOptional: true,
    disableReverseLookup: true,
    maxClients: CONNECTIONS_MAX,
    socketTimeout: silenceMs,
    closeTimeout: 1_000,
    logger: false,
    onConnect({ remoteAddress }, done) {
      if (from.of(networkOf(remoteAddress)) > CONNECTIONS_EACH)
        return done(new SmtpAnswer(421, '4.7.0 Too many'));
      done();
    },
    onMailFrom(_sender, { transaction }, done) {
      if (transaction > MESSAGES_EACH) return done(new SmtpAnswer(421, '4.7.0 Too many'));
      done();
    },
    onRcptTo({ address }, { envelope }, done) {
      const emailId = emailOfReturnPath(keys(), address);
      if (emailId === null) return done(new SmtpAnswer(550, '5.1.1 No such mailbox'));
      if (about().of(emailId) >= MESSAGES_OF_AN_EMAIL)
        return done(new SmtpAnswer(452, '4.7.0 Too many for this mailbox'));
      if (envelope.rcptTo.length > 0) return done(new SmtpAnswer(452, '4.5.3 One recipient at a time'));
      done();
    },
    onData(stream, { envelope: { mailFrom, rcptTo } }, done) {
      const beginning = createBeginning(READ_BYTES);
      stream.on('data', (piece: Buffer) => beginning.take(piece));
      stream.on('error', done);
      stream.on('end', () => {
        if (stream.sizeExceeded) return done(new SmtpAnswer(552, '5.3.4 Too large'));
        const returnPath = rcptTo[0]?.address ?? '';
        const emailId = emailOfReturnPath(keys(), returnPath);
        if (emailId === null) return done(new SmtpAnswer(550, '5.1.1 No such mailbox'));
        about().add(emailId);
        const sender = mailFrom === false ? '' : mailFrom.address;
        store({ returnPath, emailId, sender, raw: beginning.bytes(), bytes: stream.byteLength }).then(
          () => done(null, '2.0.0 Taken'),
          done,
        );
      });
    },
  });
  server.server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress);
    from.add(network);
    const over = setTimeout(() => socket.destroy(), connectionMs);
    socket.once('close', () => {
      clearTimeout(over);
      from.remove(network);
    });
  });
  return server;
}

function messagesOfTheHour(): () => Counts {
  let counts = createCounts();
  let since = Date.now();
  return () => {
    if (Math.abs(Date.now() - since) > COUNTED_MS) {
      counts = createCounts();
      since = Date.now();
    }
    return counts;
  };
}

const isInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

const networkOf = (address = ''): string => shortenedAddress(address) ?? '';
