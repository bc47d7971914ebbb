import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSendWindow, readCallingHours } from '../../domain/sendWindow.ts';
import { findTiming } from '../../operations/sending/plan.ts';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

// Calls by the hours of SMSAPI.pl, in workflows that sleep over the night.
const ZONE = 'Europe/Warsaw';
const MINUTE = 60_000;
const CALLING_HOURS = readCallingHours('08:00-22:00', 120)!;

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline()));
afterAll(() => pipeline?.close());

/** The clock of the workflows in Poland. */
const clock = async () =>
  Temporal.Instant.fromEpochMilliseconds(await pipeline.now()).toZonedDateTimeISO(ZONE);

/** The next instant at which Polish clocks show this, on the day or the one after. */
function nextAt(now: Temporal.ZonedDateTime, time: string): Temporal.ZonedDateTime {
  const today = now.withPlainTime(time);
  return Temporal.ZonedDateTime.compare(today, now) > 0 ? today : today.add({ days: 1 });
}

/** The evening before Polish clocks change. */
function eveBeforeChange(now: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  const change = now.getTimeZoneTransition('next')!;
  return change.subtract({ days: 1 }).withPlainTime('23:00');
}

/** Orders a call at this moment, as it would be accepted. @returns what it was answered as its send time */
async function order({ tries = 1, window }: { tries?: number; window?: string }) {
  const now = await pipeline.now();
  const windows = window === undefined ? [] : [parseSendWindow(window)!];
  const calling = { hours: CALLING_HOURS, tries };
  const timing = findTiming({ sendAt: null, windows, calling, expiresAt: null }, now);
  const sendAt = timing.sendAt?.getTime() ?? null;
  const message = await pipeline.message(await pipeline.account(), {
    sendAt,
    giveUpAt: timing.giveUpAt.getTime(),
    channel: 'vms',
    content: { voice: 'ewa', tries },
  });
  await pipeline.start(message);
  return { id: message.id, sendAt };
}

async function sleepUntil(instant: number): Promise<void> {
  await pipeline.sleep(instant - (await pipeline.now()));
}

async function expectCalledAt(id: string, at: Temporal.ZonedDateTime): Promise<void> {
  await sleepUntil(at.epochMilliseconds - MINUTE);
  expect(await pipeline.submits(id)).toBe(0);
  await sleepUntil(at.epochMilliseconds + MINUTE);
  await until('the call is made', async () => (await pipeline.submits(id)) === 1);
}

test.each([
  ['at 23:00 waits for 08:00', '23:00', {}, '08:00'],
  ['of six tries waits when the last one would be too late', '21:50', { tries: 6 }, '08:00'],
  ['with a window across midnight is made where both meet', '23:00', { window: '20:00-10:00' }, '08:00'],
  ['with a window across midnight waits for its evening', '10:00', { window: '20:00-06:00' }, '20:00'],
])('a call ordered %s', async (_name, ordered, wanted, made) => {
  const at = nextAt(await clock(), ordered);
  await sleepUntil(at.epochMilliseconds);
  const { id, sendAt } = await order(wanted);
  const morning = nextAt(at, made);
  expect(sendAt).toBe(morning.epochMilliseconds);
  await expectCalledAt(id, morning);
});

test.each(['one', 'the other'])(
  'a call in the night of %s clock change waits for 08:00 of the new time',
  async () => {
    const eve = eveBeforeChange(await clock());
    await sleepUntil(eve.epochMilliseconds);
    const { id, sendAt } = await order({});
    const morning = nextAt(eve, '08:00');
    expect([8, 10].map((hours) => eve.epochMilliseconds + hours * HOUR)).toContain(morning.epochMilliseconds);
    expect(sendAt).toBe(morning.epochMilliseconds);
    await expectCalledAt(id, morning);
  },
);
