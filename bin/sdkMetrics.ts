import { freePort } from './embedded/ports.ts';

const TIMEOUT_MS = 2_000;

/** An address of this machine alone for the Temporal SDK to serve its metrics at, host:port. */
export async function sdkMetricsAddress(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}

/**
 * Reads what the Temporal SDK serves by itself, in Prometheus' text format.
 * @throws when it does not answer in time
 */
export async function readSdkMetrics(address: string): Promise<string> {
  const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the SDK's metrics answered ${response.status}`);
  return await response.text();
}
