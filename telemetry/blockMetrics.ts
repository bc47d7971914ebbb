import { Gauge } from 'prom-client';
import { registry } from './registry.ts';

const TICK_MS = 10;

let longestSeconds = 0;
let watchers = 0;
let ticking: NodeJS.Timeout | undefined;

const block = new Gauge({
  name: 'goniec_longest_block_seconds',
  help: 'The longest computation since the last scrape during which this process answered nobody; time in which other processes had its core does not count.',
  registers: [registry],
  collect() {
    block.set(longestSeconds);
    longestSeconds = 0;
  },
});

/** Watches how long this process computes without a pause, until the returned function is called. */
export function watchBlocks(): () => void {
  watchers += 1;
  if (watchers === 1) start();
  return () => {
    watchers -= 1;
    if (watchers === 0) clearInterval(ticking);
  };
}

// A timer that comes late waited for a computation, or the whole process for a core: then it used no time of one.
function start(): void {
  let last = performance.now();
  let cpu = process.cpuUsage();
  ticking = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    const late = Math.min(now - last - TICK_MS, (user + system) / 1000);
    longestSeconds = Math.max(longestSeconds, late / 1000);
    last = now;
    cpu = process.cpuUsage();
  }, TICK_MS);
  ticking.unref();
}
