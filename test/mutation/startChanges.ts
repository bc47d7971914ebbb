import type { Change } from './changes.ts';

/** Faults in how a process reads its settings and starts. */
export const START_CHANGES: readonly Change[] = [
  {
    name: 'an API does not read where its assistant tools are',
    file: 'bin/api.ts',
    from: '    mcpUrl: config.MCP_URL,\n',
    to: '',
    tests: ['test/api/mcp/addresses.test.ts'],
    only: 'tools.example.com',
  },
  {
    name: 'a public address with a query makes links that lead nowhere',
    file: 'providers/urls.ts',
    from: "search === '' && hash === ''",
    to: "hash === ''",
    tests: ['test/start/config.test.ts'],
    only: 'is a plain address',
  },
  {
    name: 'whatever keeps the service from listening is another program',
    file: 'bin/listening.ts',
    from: 'errorCode(error) ?? String(error), port',
    to: "'EADDRINUSE', port",
    tests: ['test/start/listening.test.ts'],
    only: 'only where the system says so',
  },
  {
    name: 'an address that went while the service started is shown with a stack',
    file: 'bin/process.ts',
    from: "error.syscall === 'listen'",
    to: "error.syscall === 'listen' && errorCode(error) === 'EADDRINUSE'",
    tests: ['test/start/listening.test.ts'],
    only: 'where the port went meanwhile',
  },
  {
    name: 'a second start finds its port taken before it finds the service',
    file: 'bin/start.ts',
    from: '  const lock = lockDataDir(config.DATA_DIR);\n',
    to: '  await expectListenable(config.PORT, host);\n  const lock = lockDataDir(config.DATA_DIR);\n',
    tests: ['test/start/problems.test.ts'],
    only: 'when it runs already',
  },
  {
    name: 'a copy of a data folder ends the PostgreSQL of the one that runs',
    file: 'bin/embedded/postgres.ts',
    from: 'return takeLock(`${cluster}.lock`);',
    to: 'return { release: () => undefined };',
    tests: ['test/start/postgres.test.ts'],
    only: 'a link to the same data',
  },
];
