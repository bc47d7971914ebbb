/** Every workflow the workers run. */
export { batch } from './batch.ts';
export { message } from './message.ts';
