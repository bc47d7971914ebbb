import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Behaviour, Submit } from '../../smsc/behaviour.ts';
import { GARBAGE } from '../../smsc/garbage.ts';
import { partOf } from '../../smsc/text.ts';
import { COMMAND } from '../../smsc/wire.ts';
import { type Product, startProduct, untilBound } from '../../support/product.ts';
import { byWhatWasTaken, indexOf, openScene, type Scene, tries } from './scene.ts';

const STATUS = {
  systemError: 0x08,
  invalidSender: 0x0a,
  invalidDestination: 0x0b,
  queueFull: 0x14,
  submitFailed: 0x45,
  throttled: 0x58,
  permanentError: 0x65,
  vendor: 0x400,
  invalidLength: 0x01,
};
const PATIENCE_MS = 600_000;
/** Of every kind of fault so many messages, all of them under way at once. */
const OF_EACH_KIND = 200;

const each = <T>(values: readonly T[], index: number): T => values[index % values.length]!;

let product: Product;
beforeAll(async () => {
  product = await startProduct(2);
}, 120_000);
afterAll(() => product.stop(), 60_000);

const REFUSALS = [
  [STATUS.invalidDestination, 'invalid_destination'],
  [STATUS.invalidSender, 'invalid_sender'],
  [STATUS.invalidLength, 'invalid_content'],
  [STATUS.permanentError, 'network_refused'],
] as const;

/** Every `stat`, what a message comes to by it, and what once DELIVRD follows. */
const STATES = [
  ['DELIVRD', 'delivered', 'delivered'],
  ['UNDELIV', 'undelivered', 'undelivered'],
  ['EXPIRED', 'expired', 'expired'],
  ['DELETED', 'undelivered', 'undelivered'],
  ['REJECTD', 'failed', 'failed'],
  ['ENROUTE', 'sent', 'delivered'],
  ['ACCEPTD', 'sent', 'delivered'],
  ['UNKNOWN', 'sent', 'delivered'],
  ['NONSENS', 'sent', 'delivered'],
] as const;

/** What goes wrong with a message is told by its last digit; the rest of its number chooses between variants. */
const KINDS: ((variant: number, tried: number, part: number) => Behaviour)[] = [
  (variant, tried) => (tried > 1 ? {} : { status: each([STATUS.throttled, STATUS.queueFull], variant) }),
  (variant) => ({ status: each(REFUSALS, variant)[0] }),
  (variant, tried) => (tried > 2 ? {} : { status: each([STATUS.systemError, STATUS.submitFailed], variant) }),
  () => ({ status: STATUS.vendor }),
  (variant) => ({
    reports: [{ stat: each(STATES, variant)[0], in: each(['text', 'tlv', 'both'] as const, variant) }],
  }),
  (variant) => ({ answer: 'never', taken: variant % 2 === 0 }),
  (variant) => ({ answer: 2_500, reports: variant % 2 === 0 ? [] : [{ stat: 'DELIVRD', afterMs: 3_500 }] }),
  (variant) => ({ answer: each([100, 500, 1_000], variant) }),
  () => ({ answer: 300, reports: [{ stat: 'DELIVRD', afterMs: 0 }] }),
  // A report that comes before its own answer, when the other message with its id has had one, is nobody else's.
  (variant, _, part) => ({
    answer: each([500, 0], variant),
    id: `twice-${Math.floor(variant / 2)}-${part}`,
    reports: [
      { stat: each(['DELIVRD', 'UNDELIV'], variant), afterMs: 50 },
      { stat: each(['DELIVRD', 'UNDELIV'], variant), afterMs: 50 },
      { stat: 'ENROUTE', afterMs: 100 },
    ],
  }),
];
const kindOf = (index: number): number => index % KINDS.length;
const variantOf = (index: number): number => Math.floor(index / KINDS.length);

describe('200 messages of each kind, and an SMSC that', () => {
  const messages = OF_EACH_KIND * KINDS.length;
  let scene: Scene;
  const tried = tries();

  beforeAll(async () => {
    const behave = (submit: Submit): Behaviour => {
      const index = indexOf(submit);
      return KINDS[kindOf(index)]!(variantOf(index), tried(submit), partOf(submit)?.number ?? 1);
    };
    scene = await openScene(product, 'answers', behave, {
      window: 50,
      errors: { '0x08': 'later:1', '0x45': 'later:1' },
    });
    await scene.send(messages);
  }, 180_000);
  afterAll(() => scene.close(), 60_000);

  const comesTo = (kind: number, ...ends: string[]) =>
    scene.until((index) => (kindOf(index) === kind ? each(ends, variantOf(index)) : null));

  it('throttles: they keep their turn', () => comesTo(0, 'delivered'), PATIENCE_MS);
  it(
    'refuses for good: failed, with the reason, refunded',
    async () => {
      const found = await comesTo(1, 'failed');
      for (const { recipient, reason, refunds } of found) {
        const index = indexOf({ destination: recipient.slice(1) });
        if (kindOf(index) !== 1) continue;
        expect({ reason, refunds }).toEqual({ reason: each(REFUSALS, variantOf(index))[1], refunds: 1 });
      }
    },
    PATIENCE_MS,
  );
  it('asks to try later: they are tried later', () => comesTo(2, 'delivered'), PATIENCE_MS);
  it('refuses in words of its own: unanswered', () => comesTo(3, 'unanswered'), PATIENCE_MS);
  it(
    'reports every state: intermediate ones end nothing',
    async () => {
      await comesTo(4, ...STATES.map(([, end]) => end));
      const reported = scene.smsc.submits.filter((submit) => kindOf(indexOf(submit)) === 4);
      for (const submit of reported) void scene.smsc.report(submit, { stat: 'DELIVRD' });
      await comesTo(4, ...STATES.map(([, , end]) => end));
    },
    PATIENCE_MS,
  );
  it(
    'loses submits and answers: unanswered until a report proves it wrong',
    () => comesTo(5, 'delivered', 'unanswered'),
    PATIENCE_MS,
  );
  it('answers after the time-out: the answer counts', () => comesTo(6, 'sent', 'delivered'), PATIENCE_MS);
  it('answers slowly', () => comesTo(7, 'delivered'), PATIENCE_MS);
  it('reports before it answers', () => comesTo(8, 'delivered'), PATIENCE_MS);
  it(
    'gives ids twice and repeats its reports: each keeps its own end',
    () => comesTo(9, 'delivered', 'undelivered'),
    PATIENCE_MS,
  );
  it('none was lost, none sent twice, the ledger is exact', async () => {
    expect(await scene.now()).toHaveLength(messages);
    await scene.check();
  });
});

/** 200 messages each, all of these at once. */
describe.concurrent('200 messages, and an SMSC that', { timeout: PATIENCE_MS }, () => {
  it('disconnects in the middle of its window, or takes leave', async () => {
    let count = 0;
    const scene = await openScene(product, 'disconnecting', (_, connection) => {
      count += 1;
      if (count % 30 === 0) void connection.unbind();
      if (count % 20 !== 10) return { answer: 20 };
      return { connection: 'disconnect', taken: count % 40 === 10 };
    });
    await scene.send(200);
    const found = await scene.until(byWhatWasTaken(scene));
    expect(found.filter(({ status }) => status === 'delivered').length).toBeGreaterThan(100);
    expect(scene.smsc.bindAnswers.length).toBeGreaterThan(10);
    await scene.check();
    await scene.close();
  });

  it('writes garbage', async () => {
    const kinds = Object.values(GARBAGE);
    let count = 0;
    const scene = await openScene(product, 'garbage', () => {
      count += 1;
      return count % 15 === 0 ? { connection: each(kinds, count / 15 - 1).bytes } : {};
    });
    await scene.send(200);
    // What was on its way when the connection was cut may have been read no more.
    await scene.until(byWhatWasTaken(scene));
    expect(count).toBeGreaterThan(15 * kinds.length);
    await untilBound(product.sql, scene.name, 2);
    for (const connection of scene.smsc.connections().filter(({ bind }) => bind !== null)) {
      expect(await connection.request(COMMAND.enquireLink)).toBe(0);
    }
    await scene.check();
    await scene.close();
  });
});
