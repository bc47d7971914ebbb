/**
 * How long this process computes for a piece of work, in milliseconds: what other processes take of the machine meanwhile is not in it,
 * so that a limit on it holds on any day.
 */
export function computedMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
