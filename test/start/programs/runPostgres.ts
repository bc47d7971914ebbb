import { startPostgres } from '../../../bin/embedded/postgres.ts';

// Starts the database, says where, and lives until it is killed.
const { url, pid } = await startPostgres({ dataDir: process.argv[2] ?? '', log: () => undefined });
console.log(JSON.stringify({ url, pid }));
setInterval(() => undefined, 60_000);
