import { workflowInfo } from '@temporalio/workflow';

/**
 * What workflows of this code do, as a number: raised when they come to do something else. It is the build id of the
 * workers, which Temporal writes into each workflow task, so a replay finds it. `patched` tells the same by a marker and a
 * search attribute in every single history: one write to the visibility store per message, a tenth of its cost.
 *
 * 0: releases up to 0.3.0. 1, since 0.4.0: steps are first tried within the workflow task.
 */
export const GENERATION = 1;

const PREFIX = 'generation-';
export const BUILD_ID = `${PREFIX}${GENERATION}`;

/** The generation of the worker at work. A workflow asks once, at its begin, and goes on as it was begun. */
export function generation(): number {
  const build = workflowInfo().currentDeploymentVersion?.buildId ?? '';
  return build.startsWith(PREFIX) ? Number(build.slice(PREFIX.length)) : 0;
}
