import { expect } from 'vitest';
import type { Behaviour, Submit } from '../../smsc/behaviour.ts';
import type { Connection } from '../../smsc/connection.ts';
import { partKey } from '../../smsc/counts.ts';
import { type Smsc, startSmsc } from '../../smsc/smsc.ts';
import type { ApiClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import {
  accounts,
  sendSurely,
  type Outcome,
  outcomes,
  PRICE,
  type Product,
  type ProductAccount,
} from '../../support/product.ts';

const TEXT = 'Zażółć gęślą jaźń';
const LONG_TEXT = 'Paczka {1} czeka. '.repeat(10);
const PARTS_OF_LONG = 2;
/** Of all messages, those of two parts. */
const LONG_SHARE = 0.2;
const FIRST_NUMBER = 48_500_100_000;
const PATIENCE_MS = 540_000;
/** A request takes no more (v2.3.0, Limits). */
const RECIPIENTS_MAX = 500;

/** Short times, so that what goes wrong does so soon. */
const SETTINGS = {
  window: 10,
  enquireLinkSeconds: 1,
  responseSeconds: 2,
  bindSeconds: 2,
  reconnectMinMs: 50,
  reconnectMaxMs: 500,
};

/** Statuses that say that the message was not taken, and may be sent again. */
const REPEATABLE = new Set([0x08, 0x14, 0x45, 0x58]);

/** An account with a route to an SMSC of their own, and the messages sent by it. */
export interface Scene {
  name: string;
  smsc: Smsc;
  /** Sends so many messages, to numbers one after the other. */
  send(messages: number): Promise<void>;
  /** All messages as they are now. */
  now(): Promise<Outcome[]>;
  /** Waits until every message has come to what it has to, by its number from 0; null: whatever. */
  until(expected: (index: number, outcome: Outcome) => string | null): Promise<Outcome[]>;
  /** What must hold whatever the SMSC did: nothing lost, nothing sent twice, the ledger exact. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** From 0, of the message a submit belongs to. */
export const indexOf = ({ destination }: Pick<Submit, 'destination'>): number =>
  Number(destination) - FIRST_NUMBER;

/** How often each part was submitted so far, the present submit included. */
export function tries(): (submit: Submit) => number {
  const counts = new Map<string, number>();
  return (submit) => {
    const key = partKey(submit);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts.get(key)!;
  };
}

/** Delivered if the SMSC has taken all of it and says so, else unanswered: nobody knows. */
export const byWhatWasTaken =
  ({ smsc }: Scene) =>
  (_: number, outcome: Outcome): string =>
    takenParts(smsc, outcome) === outcome.parts ? 'delivered' : 'unanswered';

/** Sets up an SMSC that behaves so, an account, and a route between them with a session for each of two workers. */
export async function openScene(
  product: Product,
  name: string,
  behave: (submit: Submit, connection: Connection) => Behaviour,
  settings: Record<string, unknown> = {},
): Promise<Scene> {
  const { sql } = product;
  const smsc = await startSmsc();
  smsc.behave = behave;
  const account = await product.account();
  await product.route(name, smsc, account, { settings: { ...SETTINGS, ...settings }, sessions: 2 });
  const now = () => outcomes(sql, account.id);
  return {
    name,
    smsc,
    send: (messages) => send(account, messages),
    now,
    until: (expected) => untilExpected(now, expected),
    check: async () => {
      const found = await now();
      expect(smsc.problems).toEqual([]);
      expect(sentTwice(smsc)).toEqual([]);
      expect(falselyEnded(smsc, found)).toEqual([]);
      for (const { id, charges, refunds, ...one } of found) {
        expect({ id, charges, refunds }).toEqual({ id, charges: 1, refunds: isRefunded(one) ? 1 : 0 });
      }
      const { balance, ledger, expected } = await accounts(sql, account.id);
      expect({ balance, ledger }).toEqual({ balance: expected, ledger: expected });
    },
    async close() {
      // The route would try on and on to bind.
      await sql`update routes set state = 'disabled' where name = ${name}`;
      await smsc.stop();
    },
  };
}

async function send({ api }: ProductAccount, messages: number): Promise<void> {
  const numbers = Array.from({ length: messages }, (_, index) => `+${FIRST_NUMBER + index}`);
  const long = messages * LONG_SHARE;
  await sendAll(api, numbers.slice(long), TEXT, PRICE);
  await sendAll(api, numbers.slice(0, long), LONG_TEXT, PRICE * PARTS_OF_LONG);
}

async function sendAll(api: ApiClient, numbers: string[], text: string, price: number): Promise<void> {
  for (let from = 0; from < numbers.length; from += RECIPIENTS_MAX) {
    const to = numbers.slice(from, from + RECIPIENTS_MAX);
    expect((await sendSurely(api, { to, text })).body.total_cost_grosze).toBe(price * to.length);
  }
}

async function untilExpected(
  now: () => Promise<Outcome[]>,
  expected: (index: number, outcome: Outcome) => string | null,
): Promise<Outcome[]> {
  const others = (found: Outcome[]): string[] =>
    found.flatMap((one) => {
      const index = indexOf({ destination: one.recipient.slice(1) });
      const wanted = expected(index, one);
      if (wanted === null || wanted === wordOf(one)) return [];
      return [`${index} (${one.parts}) is ${one.status}, ${one.submission}: not ${wanted}`];
    });
  let found: Outcome[] = [];
  await eventually(
    async () => others((found = await now())),
    (some) => some.length === 0,
    PATIENCE_MS,
  );
  return found;
}

/** What a message came to in one word. */
const wordOf = ({ status, submission }: Outcome): string =>
  status === 'queued' && submission === 'unanswered' ? 'unanswered' : status;

// What the network refuses after the operator took it has cost something.
const isRefunded = ({ status, reason }: Pick<Outcome, 'status' | 'reason'>): boolean =>
  status === 'failed' && reason !== 'rejected_on_report';

/** Parts that were submitted again although an earlier submit may have been taken. */
function sentTwice({ submits }: Smsc): string[] {
  const seen = new Set<string>();
  return submits
    .filter(({ status }) => !REPEATABLE.has(status))
    .map(partKey)
    .filter((key) => seen.size === seen.add(key).size);
}

/** Messages that are said to be on their way or delivered, of which the SMSC does not have every part. */
function falselyEnded(smsc: Smsc, found: Outcome[]): string[] {
  return found
    .filter(({ status }) => status === 'sent' || status === 'delivered' || status === 'undelivered')
    .filter((one) => takenParts(smsc, one) !== one.parts)
    .map(({ recipient, status }) => `${recipient} is ${status}`);
}

function takenParts({ submits }: Smsc, { recipient }: Outcome): number {
  const keys = submits
    .filter(({ taken, destination }) => taken && `+${destination}` === recipient)
    .map(partKey);
  return new Set(keys).size;
}
