import { lockDataDir } from '../../../dev/dataDir.ts';

// Takes the data folder, says so, and keeps it until it is killed.
lockDataDir(process.argv[2] ?? '');
console.log('locked');
setInterval(() => undefined, 60_000);
