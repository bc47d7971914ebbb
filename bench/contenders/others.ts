import { join } from 'node:path';
import { type Contender, type Ground, noneRunning } from '../contender.ts';
import { findRedis, startRedis } from '../queues/redisServer.ts';
import { startFamily } from './family.ts';

/** (b) The same steps as Temporal's samples would write them. */
export function startPlain(ground: Ground): Promise<Contender> {
  return startFamily(ground, {
    key: 'plain',
    title: 'plain pipeline',
    ...{ api: 'plain/api.ts', worker: 'plain/worker.ts' },
    settled: () => noneRunning(ground.client, `WorkflowType = 'plainMessage'`),
  });
}

/** (d) The same life cycle on a job queue in PostgreSQL. */
export function startPgBoss(ground: Ground): Promise<Contender> {
  return startFamily(ground, {
    key: 'pgboss',
    title: 'pg-boss',
    ...{ api: 'queues/pgBossApi.ts', worker: 'queues/pgBossWorker.ts' },
  });
}

/** (d) The same life cycle on a job queue in Redis. */
export async function startBullmq(ground: Ground): Promise<Contender> {
  const redis = await startRedis(await findRedis(), join(ground.servers.dataDir, 'redis'));
  try {
    return await startFamily(ground, {
      key: 'bullmq',
      title: `BullMQ, Redis ${redis.version}`,
      ...{ api: 'queues/bullmqApi.ts', worker: 'queues/bullmqWorker.ts' },
      settings: { REDIS_PORT: String(redis.port) },
      extra: { pids: { redis: redis.pid }, folder: redis.folder, stop: () => redis.stop() },
    });
  } catch (error) {
    await redis.stop();
    throw error;
  }
}
