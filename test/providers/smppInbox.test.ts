import { describe, expect, test } from 'vitest';
import { createRedeliveries } from '../../providers/smpp/inbox.ts';
import { incoming } from '../smsc/incoming.ts';
import type { Smsc } from '../smsc/smsc.ts';
import { COMMAND, encodePdu, encodeShortMessage } from '../smsc/wire.ts';
import { stopClock } from '../support/stopClock.ts';
import { openProvider, part, submit } from './smppProvider.ts';
import { until } from './until.ts';

const PHONE = '48600100200';
const OURS = '48500600700';
const reply = (text: string) => incoming(PHONE, OURS, text)[0]!;
const report = (id: string) =>
  encodeShortMessage({
    source: PHONE,
    esmClass: 0x04,
    shortMessage: Buffer.from(`id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000`),
  });

/** Storing reports takes until `stored`. */
function slowly(stored: Promise<void>) {
  let calls = 0;
  const onReports = () => {
    calls++;
    return stored;
  };
  return { store: { onReports }, calls: () => calls };
}

/** Far more reports at once than are read before some of them are stored. */
async function flood(smsc: Smsc, calls: () => number): Promise<void> {
  const pdus = Array.from({ length: 1_000 }, (_, index) =>
    encodePdu({ id: COMMAND.deliverSm, sequence: index + 1, body: report(`r${index}`) }),
  );
  smsc.connections()[0]!.write(Buffer.concat(pdus));
  await until(() => calls() === 1);
}

describe('what is delivered', () => {
  test('is acknowledged only when it is stored', async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve));
    const { smsc } = await openProvider({}, { store: { onReplies: () => stored } });
    let acknowledged = false;
    const delivered = smsc.deliver(reply('TAK')).then(() => (acknowledged = true));
    // An enquire_link behind it is answered: the reply has been read, and waits. By the second one its answer would be here.
    for (let time = 0; time < 2; time += 1)
      expect(await smsc.connections()[0]!.request(COMMAND.enquireLink)).toBe(0);
    expect(acknowledged).toBe(false);
    store();
    await delivered;
  });

  test('comes again when it could not be stored', async () => {
    let failures = 2;
    const away = () => (failures-- > 0 ? Promise.reject(new Error('database away')) : Promise.resolve());
    const { smsc, reports, errors } = await openProvider({}, { store: { onReports: away } });
    await smsc.deliver(report('abc'));
    expect(reports).toHaveLength(1);
    expect(smsc.redelivered).toBe(2);
    expect(errors).toEqual(['database away', 'database away']);
  });

  test('and cannot be read is acknowledged, and told without its content', async () => {
    const { smsc, errors, replies } = await openProvider();
    const body = encodeShortMessage({
      source: PHONE,
      dataCoding: 0x14,
      shortMessage: Buffer.from([1, 2, 3, 255]),
    });
    await smsc.deliver(body);
    await smsc.deliver(Buffer.from('secret without any end'));
    expect(errors).toHaveLength(2);
    expect(errors.join()).not.toContain('secret');
    expect(replies).toEqual([]);
    expect(smsc.redelivered).toBe(0);
  });

  test('with a broken TLV behind it is taken, and staff see the TLV', async () => {
    const { smsc, provider, replies, reports, errors } = await openProvider();
    const broken = Buffer.from([0x14, 0x03, 0, 6, 1, 2]);
    await smsc.deliver(Buffer.concat([reply('STOP'), broken]));
    await smsc.deliver(Buffer.concat([report('abc'), broken]));
    expect(replies).toMatchObject([{ from: `+${PHONE}`, to: `+${OURS}`, text: 'STOP' }]);
    expect(reports).toMatchObject([{ providerMessageId: 'abc', state: 'delivered' }]);
    expect(provider.state()).toMatchObject({
      lastError: 'a deliver_sm has a TLV that runs beyond it: 0x1403',
      failures: 0,
    });
    expect(errors).toEqual([]);
  });

  test('and whose text may be in the TLV that is broken is no empty reply', async () => {
    const { smsc, replies, errors } = await openProvider();
    await smsc.deliver(Buffer.concat([reply(''), Buffer.from([0x04, 0x24, 0, 9, 0x54, 0x41, 0x4b])]));
    expect(replies).toEqual([]);
    expect(errors).toEqual(['a deliver_sm could not be read: no text before a broken TLV']);
  });

  test('as data_sm is taken like a deliver_sm', async () => {
    const { smsc, replies } = await openProvider();
    const fields = encodeShortMessage({ source: PHONE, destination: OURS }).subarray(0, 1 + 2 + 12 + 2 + 12);
    const payload = Buffer.from([0x04, 0x24, 0, 3, 0x54, 0x41, 0x4b]);
    const body = Buffer.concat([fields, Buffer.from([0, 0, 0]), payload]);
    expect(await smsc.connections()[0]!.request(0x103, body)).toBe(0);
    expect(replies).toMatchObject([{ from: `+${PHONE}`, to: `+${OURS}`, text: 'TAK' }]);
  });

  test('in great numbers goes in batches, is read no faster than it is stored, and submits go on', async () => {
    stopClock();
    const { smsc, provider, reports, reportBatches } = await openProvider();
    const pdus = Array.from({ length: 1_000 }, (_, index) =>
      encodePdu({ id: COMMAND.deliverSm, sequence: index + 1, body: report(`r${index}`) }),
    );
    smsc.connections()[0]!.write(Buffer.concat(pdus));
    expect(await submit(provider, part(1))).toMatchObject({ kind: 'accepted' });
    await until(() => reports.length >= 1_000);
    expect(Math.max(...reportBatches)).toBeLessThanOrEqual(200);
    expect(reportBatches.length).toBeLessThan(200);
    expect(new Set(reports.map(({ providerMessageId }) => providerMessageId)).size).toBeGreaterThanOrEqual(
      1_000,
    );
  });

  test('while nothing is read for it, lets no submit run out of time', async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve));
    const slow = slowly(stored);
    const clock = stopClock();
    const { smsc, provider } = await openProvider({ responseSeconds: 5 }, slow);
    await flood(smsc, slow.calls);
    const submitted = submit(provider, part(1));
    await until(() => smsc.submits.length === 1);
    await clock.pass(20_000);
    store();
    expect(await submitted).toMatchObject({ kind: 'accepted' });
  });

  test('and never stored does not keep a session from ending', async () => {
    const slow = slowly(new Promise(() => undefined));
    const { smsc, provider } = await openProvider({ responseSeconds: 0.2 }, slow);
    await flood(smsc, slow.calls);
    await provider.stop();
    await until(() => smsc.connections().length === 0);
  });

  test('while it is stopped is still answered', async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve));
    const { smsc, provider, replies } = await openProvider({}, { store: { onReplies: () => stored } });
    const delivered = smsc.deliver(reply('TAK'));
    expect(await smsc.connections()[0]!.request(COMMAND.enquireLink)).toBe(0);
    const stopped = provider.stop();
    store();
    await Promise.all([delivered, stopped]);
    expect(replies).toHaveLength(1);
    expect(smsc.redelivered).toBe(0);
  });
});

describe('a reply', () => {
  test('that a person sends twice is two', async () => {
    const { smsc, replies } = await openProvider();
    await smsc.deliver(reply('TAK'));
    await smsc.deliver(reply('TAK'));
    expect(new Set(replies.map(({ providerReference }) => providerReference)).size).toBe(2);
  });

  test('whose acknowledgement was lost with the connection is one', async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve));
    let calls = 0;
    const { smsc, replies, provider } = await openProvider(
      {},
      { store: { onReplies: () => (++calls === 1 ? stored : Promise.resolve()) } },
    );
    const delivered = smsc.deliver(reply('TAK'));
    expect(await smsc.connections()[0]!.request(COMMAND.enquireLink)).toBe(0);
    smsc.connections()[0]!.disconnect();
    await until(() => provider.state().failures === 1);
    store();
    await delivered;
    await until(() => replies.length === 2);
    expect(replies[0]!.providerReference).toBe(replies[1]!.providerReference);
    // It was expected once, and has come.
    await smsc.deliver(reply('TAK'));
    expect(replies[2]!.providerReference).not.toBe(replies[0]!.providerReference);
  });
});

describe('redeliveries', () => {
  const one = { from: '+48600100200', to: null, encoding: 'gsm7' as const, content: Buffer.from('TAK') };

  test('are expected of the last 30 seconds of a lost session, for ten minutes', () => {
    let now = 0;
    const redeliveries = createRedeliveries<object>(() => now);
    const [first, second, third] = [{}, {}, {}];
    // Never acknowledged, so that those behind it are kept with it.
    redeliveries.handedOver(first, { ...one, content: Buffer.from('NIE') });
    const early = redeliveries.handedOver(first, one);
    early.acknowledged();
    now += 31_000;
    const later = redeliveries.handedOver(first, one);
    later.acknowledged();
    redeliveries.lost(first);
    now += 590_000;
    expect(redeliveries.handedOver(second, one).providerReference).toBe(later.providerReference);
    const again = redeliveries.handedOver(second, one);
    expect([early.providerReference, later.providerReference]).not.toContain(again.providerReference);
    again.acknowledged();
    redeliveries.lost(second);
    now += 601_000;
    expect(redeliveries.handedOver(third, one).providerReference).not.toBe(again.providerReference);
  });

  test('of other words, or of others, are none', () => {
    const redeliveries = createRedeliveries<object>();
    const session = {};
    const handed = redeliveries.handedOver(session, one);
    redeliveries.lost(session);
    handed.unacknowledged();
    for (const other of [
      { ...one, from: '+48600100201' },
      { ...one, to: '+48500600700' },
      { ...one, content: Buffer.from('NIE') },
    ]) {
      expect(redeliveries.handedOver(session, other).providerReference).not.toBe(handed.providerReference);
    }
    expect(redeliveries.handedOver(session, one).providerReference).toBe(handed.providerReference);
    expect(redeliveries.handedOver(session, one).providerReference).not.toBe(handed.providerReference);
  });
});
