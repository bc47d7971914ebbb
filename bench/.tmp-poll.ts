import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker, Runtime } from '@temporalio/worker';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from './load.ts';
import { cpuMs } from './cpu.ts';
import { answerUpdate } from './bareWorkflow.ts';
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } as never });
const workflowBundle = await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('./bareWorkflow.ts', import.meta.url)), logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } as never });
const dir = mkdtempSync('/tmp/h6/tb/');
const extra = process.argv.slice(2).flatMap((v) => ['--dynamic-config-value', v]);
const child = spawn('/tmp/temporal-bin/temporal', ['server','start-dev','--ip','127.0.0.1','--port','47234','--headless','--db-filename',`${dir}/t.db`,'--log-level','error','--dynamic-config-value','matching.useNewMatcher=true','--dynamic-config-value','matching.enableFairness=true','--sqlite-pragma','journal_mode=wal', ...extra], {stdio:['ignore','ignore','ignore']});
for(;;){ try { const c = await Connection.connect({address:'127.0.0.1:47234',connectTimeout:'1s'}); await c.workflowService.describeNamespace({namespace:'default'}); await c.close(); break; } catch { await delay(100);} }
const connection = await NativeConnection.connect({ address: '127.0.0.1:47234' });
const client = new Client({ connection: await Connection.connect({ address: '127.0.0.1:47234' }) });
const variants: Record<string, object> = { default: {}, 'ratio .5': { nonStickyToStickyPollRatio: 0.5 }, '20 ratio .5': { maxConcurrentWorkflowTaskPolls: 20, nonStickyToStickyPollRatio: 0.5 }, auto: { workflowTaskPollerBehavior: { type: 'autoscaling' } } };
let id = 0;
for (let round = 0; round < 2; round++) for (const [name, options] of Object.entries(variants)) {
  const taskQueue = `q-${name}-${round}`;
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, maxCachedWorkflows: 500, ...options });
  const running = worker.run();
  const work = async () => { await client.workflow.executeUpdateWithStart(answerUpdate, { startWorkflowOperation: new WithStartWorkflowOperation('bare', { workflowId: `w${id++}`, taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' }) }); };
  await run(20, 4, work);
  const before = cpuMs({ t: child.pid! }).t!;
  const t = await run(160, 16, work);
  console.log(name.padEnd(12), 'rate', t.perSecond.toFixed(1), 'median', t.median.toFixed(0), 'p95', t.p95.toFixed(0), 'p99', t.p99.toFixed(0), 'cpu', ((cpuMs({ t: child.pid! }).t! - before) / 160).toFixed(1));
  worker.shutdown(); await running;
}
await client.connection.close(); await connection.close();
child.kill('SIGTERM'); await new Promise(r=>child.once('exit',r)); rmSync(dir,{recursive:true});
