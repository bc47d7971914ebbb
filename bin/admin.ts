import { openServiceDatabase } from './admin/database.ts';
import { actorOf } from './admin/execute.ts';
import { runAdmin } from './admin/program.ts';
import { serviceTools } from './admin/tools.ts';

// A reader that has seen enough (`… | head -1`) is no failure.
process.stdout.on('error', () => undefined);

process.exitCode = await runAdmin(process.argv.slice(2), {
  actor: async () => actorOf((await import('./config.ts')).readConfig()),
  openDatabase: openServiceDatabase,
  openTools: serviceTools,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
