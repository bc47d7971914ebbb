import { runProcess } from '../../../bin/process.ts';

// Says its process id, then shows that it lives until it is ended.
await runProcess(() => {
  console.log(process.pid);
  const ticking = setInterval(() => console.log('tick'), 50);
  return Promise.resolve({ stop: () => Promise.resolve(clearInterval(ticking)) });
}, 10_000);
