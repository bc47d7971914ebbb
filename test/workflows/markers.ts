import type { History } from '@temporalio/common/lib/proto-utils.js';

/** A step made within a workflow task, as its marker in the history has it. */
interface LocalStep {
  name: string;
  /** Null for nothing, and for a step that failed. */
  result: unknown;
}

/** How often a message's submit came to something, within a workflow task or by an activity. */
export function submitsOf(history: History): number {
  const queued = history.events!.filter(
    ({ activityTaskCompletedEventAttributes: completed }) => valueOf(completed?.result?.payloads) !== null,
  );
  const atOnce = localSteps(history).filter(({ name, result }) => name === 'submitInTask' && result !== null);
  return queued.length + atOnce.length;
}

/** The steps made within the tasks of a workflow, in order. */
export function localSteps({ events }: History): LocalStep[] {
  return events!.flatMap(({ markerRecordedEventAttributes: marker }) => {
    if (marker?.markerName !== 'core_local_activity') return [];
    const [data, result] = ['data', 'result'].map((key) => valueOf(marker.details?.[key]?.payloads));
    return [{ name: (data as { activity_type: string }).activity_type, result }];
  });
}

/** The first of some payloads; null for nothing. */
function valueOf(payloads: { data?: Uint8Array | null }[] | null | undefined): unknown {
  const bytes = payloads?.[0]?.data;
  return bytes && bytes.length > 0 ? JSON.parse(Buffer.from(bytes).toString()) : null;
}
