import { Worker } from 'node:worker_threads';

const PAUSE_MS = 5;

/** Asks a service's `GET /v1/health` again and again, as others do while it has something else to do. */
export interface HealthWatch {
  /** The longest that an answer took since this was last asked, in milliseconds; one that is still awaited counts when it comes. */
  slowestMs(): number;
  stop(): Promise<number>;
}

// In a thread of its own: this one stands still itself while it makes what is to be sent.
const ASKER = `
  const { Agent, get } = require('node:http');
  const { workerData: { url, slowest } } = require('node:worker_threads');
  const longest = new Float64Array(slowest);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  function ask() {
    const began = performance.now();
    const answered = () => {
      longest[0] = Math.max(longest[0], performance.now() - began);
      setTimeout(ask, ${PAUSE_MS});
    };
    // A connection that was kept may just be closed.
    const request = get(url + '/v1/health', { agent }, (response) => response.resume().on('close', answered));
    request.on('error', answered);
  }
  ask();
`;

/** Begins to ask the service at this address, one request after the other. */
export function watchHealth(url: string): HealthWatch {
  const slowest = new Float64Array(new SharedArrayBuffer(8));
  const workerData = { url, slowest: slowest.buffer };
  const asker = new Worker(ASKER, { eval: true, execArgv: [], workerData });
  return {
    slowestMs() {
      const found = slowest[0]!;
      slowest[0] = 0;
      return found;
    },
    stop: () => asker.terminate(),
  };
}
