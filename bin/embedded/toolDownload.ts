import { TestWorkflowEnvironment } from '@temporalio/testing';

// A process of its own, because a download that gets no answer can only be given up by ending it: run by
// `sdkDownload` with what to get and where to keep it. Starting the server once proves that the program works here.
const [what, downloadDir = ''] = process.argv.slice(2);
const executable = { type: 'cached-download', downloadDir, ttl: '3650 days' } as const;
const environment =
  what === 'cli'
    ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
    : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
await environment.teardown();
