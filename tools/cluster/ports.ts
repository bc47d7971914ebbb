import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeJson } from '../../bin/runfile.ts';
import { freePort } from '../../bin/ports.ts';

const shape = z.record(z.string(), z.array(z.number()));

/** Deals out ports; every name gets those it had last time, where they are free. */
export type KeptPorts = {
  /** @param wanted for the first port of a name that has none yet */
  take(name: string, count?: number, wanted?: number): Promise<number[]>;
};

/** The ports of the processes of a data folder, remembered there. */
export function keptPorts(dataDir: string): KeptPorts {
  const path = join(dataDir, 'cluster-ports.json');
  const known = shape.catch({}).parse(readJson(path));
  const dealt = new Set<number>();
  return {
    async take(name, count = 1, wanted) {
      const last = known[name] ?? (wanted === undefined ? [] : [wanted]);
      const ports: number[] = [];
      for (let index = 0; index < count; index += 1) {
        let port = await freePort(last[index]);
        while (dealt.has(port)) port = await freePort();
        dealt.add(port);
        ports.push(port);
      }
      known[name] = ports;
      writeJson(path, known);
      return ports;
    },
  };
}
