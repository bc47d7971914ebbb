import { buildBundle } from '../worker/bundle.ts';

await buildBundle();
console.log('The workflows are bundled in build/workflows.js.');
