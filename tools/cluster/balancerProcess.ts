import { z } from 'zod';
import { runProcess } from '../../bin/process.ts';
import { startBalancer } from './balancer.ts';
import { frontendServes } from './frontendHealth.ts';

// The one argument of this process, as JSON.
const balancerArgument = z.array(
  z.strictObject({
    kind: z.enum(['temporal', 'api']),
    host: z.string(),
    port: z.number(),
    backends: z.array(z.string()),
  }),
);

const GRACE_MS = 4_000;

await runProcess(async () => {
  const wanted = balancerArgument.parse(JSON.parse(process.argv[2] ?? '[]'));
  const balancers = await Promise.all(
    wanted.map(({ kind, ...options }) =>
      startBalancer({ ...options, ...(kind === 'temporal' ? { check: frontendServes } : {}) }),
    ),
  );
  console.log('the balancer listens');
  return { stop: async () => void (await Promise.all(balancers.map((close) => close()))) };
}, GRACE_MS);
