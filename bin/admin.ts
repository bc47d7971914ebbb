import { openServiceDatabase } from './admin/database.ts';
import { operatingUser } from './admin/execute.ts';
import { runAdmin } from './admin/program.ts';
import { serviceTools } from './admin/tools.ts';

// A reader that has seen enough (`… | head -1`) is no failure.
process.stdout.on('error', () => undefined);

process.exitCode = await runAdmin(process.argv.slice(2), {
  actor: operatingUser(),
  openDatabase: openServiceDatabase,
  openTools: serviceTools,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
