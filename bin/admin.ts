import { runAdmin } from './admin/program.ts';
import { actorOf, openServiceDatabase, serviceTools } from './admin/tools.ts';
import { readConfig } from './config.ts';

// A reader that closes the pipe (`… | head -1`) is no failure.
process.stdout.on('error', () => undefined);

process.exitCode = await runAdmin(process.argv.slice(2), {
  actor: () => actorOf(readConfig()),
  openDatabase: openServiceDatabase,
  openTools: serviceTools,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
