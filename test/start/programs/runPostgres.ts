import { startPostgres } from '../../../dev/postgres.ts';

// Starts the database, says where, and lives until it is killed.
const { url, pid } = await startPostgres(process.argv[2] ?? '');
console.log(JSON.stringify({ url, pid }));
setInterval(() => undefined, 60_000);
