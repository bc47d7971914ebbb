import { work } from '../worker.ts';

/** The worker of the ceiling: workflows that do next to nothing. */
await work('bench-ceiling', new URL('./workflows.ts', import.meta.url));
