import { createTaskTracker, withTimeout } from '../../concurrency/tasks.ts';
import { NO_SESSION } from '../../domain/submission.ts';
import { type EmailAnswer, type RefusedAddress, type SubmitEmail, suspectOf } from '../email.ts';
import { emailOnly, type ProviderOptions, type RouteTest } from '../kind.ts';
import type { Provider, NotSubmitted } from '../provider.ts';
import { createHealth, type Health, stateBy } from '../health.ts';
import { returnPath, type SmtpCredentials, type SmtpSettings, wireAddress, wireDomain } from './settings.ts';
import { answerOf, shouldWaitForAll } from './answers.ts';
import { openConnection, wholeHandOverMs } from './connection.ts';
import { type Connections, createConnections, inTransactions } from './connections.ts';
import { createBounceListener } from './listener.ts';
import { composed, headerProblem, signed, type SignedMessage, type WireAddresses } from './message.ts';

const LATER_MS = 5_000;

type SmtpOptions = ProviderOptions<SmtpSettings, SmtpCredentials>;

interface Sender {
  from: string;
  replyTo: string | null;
  domain: string;
  returnPath: string;
}

interface Recipients {
  addresses: WireAddresses;
  all: string[];
  asGiven: Map<string, string>;
  leftOut: RefusedAddress[];
}

interface Relay extends SmtpOptions {
  connections: Connections;
  health: Health;
}

interface Written {
  sender: Sender;
  recipients: Recipients;
  message: SignedMessage;
}

/** A mail relay. SMTP has no idempotency key: an e-mail that was written whole and got no answer is never submitted again. */
export function createSmtpProvider(options: SmtpOptions): Provider {
  const { name, settings, credentials, onError } = options;
  const connections = createConnections(settings, credentials);
  const health = createHealth((signal) => probe(settings, credentials, signal));
  const bounces = createBounceListener(settings, credentials, onError);
  const underWay = createTaskTracker();
  const relay: Relay = { ...options, connections, health };
  return emailOnly(
    name,
    {
      idempotencyWindowMs: 0,
      answerTimeoutMs: wholeHandOverMs(settings),
      submit(email, beforeSubmit) {
        const submitted = submit(relay, email, beforeSubmit);
        underWay.add(submitted);
        return submitted;
      },
    },
    {
      async start(handlers) {
        health.start();
        bounces.start(handlers);
        return Promise.resolve();
      },
      state: () =>
        stateBy(health, { window: settings.connections, inFlight: connections.inside() }, describeCode),
      async stop() {
        await Promise.all([health.stop(), bounces.stop()]);
        await withTimeout(underWay.settled(), settings.responseSeconds * 1000, () => undefined);
        connections.stop();
      },
    },
  );
}

async function submit(
  relay: Relay,
  email: SubmitEmail,
  beforeSubmit: () => Promise<boolean>,
): Promise<EmailAnswer | NotSubmitted> {
  if (!relay.health.works()) return { kind: 'broken', code: NO_SESSION };
  const written = await write(relay, email);
  return 'kind' in written ? written : await handOver(relay, email, written, beforeSubmit);
}

async function write(
  { credentials: { returnPathKey }, onError }: Relay,
  email: SubmitEmail,
): Promise<Written | EmailAnswer> {
  const { domain } = email;
  if (domain.privateKey === null) return { kind: 'refused', reason: 'sender_refused', code: 'domain' };
  const sender = senderOf(email, returnPathKey);
  if (sender === null) return { kind: 'refused', reason: 'sender_refused', code: 'address' };
  const problem = headerProblem(email);
  if (problem !== null) return { kind: 'refused', reason: 'content_refused', code: problem };
  const recipients = recipientsOf(email, sender);
  if (recipients.all.length === 0)
    return { kind: 'refused', reason: 'recipients_refused', code: 'address', refused: recipients.leftOut };
  try {
    const compose = () => composed(email, recipients.addresses, returnPathKey);
    return { sender, recipients, message: await signed(compose, { ...domain, name: sender.domain }) };
  } catch (error) {
    onError(error);
    return { kind: 'later', retryAfterMs: LATER_MS, code: 'unreadable' };
  }
}

async function handOver(
  { connections, health, settings, onError }: Relay,
  email: SubmitEmail,
  { sender, recipients: { all, leftOut, asGiven }, message: { bytes, content } }: Written,
  beforeSubmit: () => Promise<boolean>,
): Promise<EmailAnswer | NotSubmitted> {
  const pooled = await connections.acquire(email.accountId);
  if ('code' in pooled) {
    health.failed(pooled.code);
    return { kind: 'broken', code: pooled.code };
  }
  try {
    if (!(await beforeSubmit())) return { kind: 'withheld' };
    const ageMs = Date.now() - email.createdAt.getTime();
    const goOn = (refused: Parameters<typeof shouldWaitForAll>[0]) => !shouldWaitForAll(refused, ageMs);
    const outgoing = { from: sender.returnPath, to: all, bytes, content, goOn };
    const result = await inTransactions(pooled.connection, outgoing, {
      wholeMs: wholeHandOverMs(settings),
      leastMs: settings.responseSeconds * 1000,
    });
    if (result.kind === 'unreadable') onError(result.error);
    const answer = answerOf(result, {
      id: `${email.id}@${email.domain.name}`,
      ageMs,
      known: leftOut,
      asGiven: (address) => asGiven.get(address) ?? address,
    });
    recordHealth(health, answer, email);
    return answer;
  } finally {
    pooled.release();
  }
}

// A relay that judged an e-mail works. After connection and login, a filter may break off because of this one e-mail.
function recordHealth(health: Health, answer: EmailAnswer, email: SubmitEmail): void {
  if (answer.kind === 'broken' || answer.kind === 'unanswered')
    health.failed(answer.code ?? 'unknown', false, suspectOf(answer, email).id);
  else health.succeeded();
}

function senderOf({ id, from, replyTo, domain }: SubmitEmail, key: string): Sender | null {
  const address = wireAddress(from.address);
  const reply = replyTo === null ? null : wireAddress(replyTo);
  const name = wireDomain(domain.name);
  if (address === null || name === null || (reply === null && replyTo !== null)) return null;
  return { from: address, replyTo: reply, domain: name, returnPath: returnPath(key, id, name) };
}

function recipientsOf(
  { to, cc, bcc }: SubmitEmail,
  { from, replyTo }: Pick<Sender, 'from' | 'replyTo'>,
): Recipients {
  const asGiven = new Map<string, string>();
  const leftOut: Recipients['leftOut'] = [];
  const written = (addresses: readonly string[]): string[] =>
    addresses.flatMap((address) => {
      const wire = wireAddress(address);
      if (wire === null) {
        leftOut.push({ address, code: 'address', permanent: true });
        return [];
      }
      if (!asGiven.has(wire)) asGiven.set(wire, address);
      return [wire];
    });
  const addresses = { from, replyTo, to: written(to), cc: written(cc) };
  written(bcc);
  return { addresses, all: [...asGiven.keys()], asGiven, leftOut };
}

async function probe(
  settings: SmtpSettings,
  credentials: SmtpCredentials,
  signal: AbortSignal,
): Promise<string | null> {
  const connection = await openConnection(settings, credentials, signal);
  if ('code' in connection) return connection.code;
  connection.end();
  return null;
}

/** Tests relay, TLS and login of a route without sending anything. Never throws. */
export async function testSmtpRoute(
  settings: SmtpSettings,
  credentials: SmtpCredentials,
): Promise<RouteTest> {
  const problem = await probe(settings, credentials, new AbortController().signal);
  if (problem !== null) return { ok: false, problem: describeCode(problem) };
  const how = settings.security === 'none' ? 'without TLS' : 'with TLS';
  const who = credentials.user === undefined ? 'without a login' : 'and the login';
  return { ok: true, answer: `${settings.host}:${settings.port} ${how} ${who}` };
}

const WORDS: Record<string, string> = {
  no_tls: 'the relay has no TLS',
  login_over_plain_text: 'a login never goes over plain text: security has to be starttls or tls',
  connect_timed_out: 'no answer to the connection in time',
  timed_out: 'no answer in time',
  connection_lost: 'the relay closed the connection',
  stopped: 'stopped',
  ETLS: 'TLS did not come about',
  EAUTH: 'the login did not come about',
};

/** A code for staff. */
export function describeCode(code: string): string {
  if (/^(530|534|535|538)\b/.test(code)) return `the relay refused the login: ${code}`;
  return WORDS[code] ?? (/^[45]/.test(code) ? `the relay answered ${code}` : code);
}
