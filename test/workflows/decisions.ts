import { decide, type Decided, type Decision } from '../../operations/support/decisions.ts';
import type { Pipeline } from './pipeline.ts';

/**
 * Has the workflow of an unanswered message carry out what staff decided, as their command does: asked again where the server throws the
 * workflow's task away. That happens to a bare update whenever something else comes while the workflow ends by it.
 */
export function decideOn(
  { sql, client, secretsKey }: Pipeline,
  id: string,
  what: Decision,
): Promise<Decided> {
  const services = {
    sql,
    temporal: () => Promise.resolve(client),
    secretsKey: () => Promise.resolve(secretsKey),
  };
  return decide(services, id, what);
}
