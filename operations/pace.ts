import { createTurns } from '../concurrency/turns.ts';
import { checkPatience } from '../db/patience.ts';

// So long a piece of work keeps the process to itself: a request in between waits for a few of them at most.
const SLICE_MS = 8;

/** Cuts long work of one request into slices, so that other requests are answered in between. */
export interface Pace {
  /** Whether the slice is used up; then `rest` is due. Cheap enough to be asked for each element of a list. */
  due(): boolean;
  /**
   * Lets others go first: one slice of long work is done in each turn of the event loop, and accounts take turns at it.
   * @throws OutOfPatienceError when nobody waits for the work any more
   */
  rest(): Promise<void>;
}

const waiting = createTurns<() => void>();
let planned = false;

function resumeOne(): void {
  planned = false;
  for (const resume of waiting.take(1)) resume();
  plan();
}

function plan(): void {
  if (planned || waiting.waiting() === 0) return;
  planned = true;
  setImmediate(resumeOne);
}

/**
 * A pace for one request, its first slice beginning now.
 * @param owner account id; null: nobody's in particular, as the health of the service, which waits for no other's work
 */
export function newPace(owner: string | null): Pace {
  let until = performance.now() + SLICE_MS;
  const turn = (): Promise<void> =>
    new Promise((resume) => {
      if (owner === null) return void setImmediate(resume);
      waiting.add(owner, resume);
      plan();
    });
  return {
    due: () => performance.now() >= until,
    async rest() {
      await turn();
      checkPatience();
      until = performance.now() + SLICE_MS;
    },
  };
}

/** As `Array.map`, in slices. */
export async function mapPaced<In, Out>(
  pace: Pace,
  items: readonly In[],
  work: (item: In, index: number) => Out,
): Promise<Out[]> {
  const made: Out[] = [];
  for (const [index, item] of items.entries()) {
    if (pace.due()) await pace.rest();
    made.push(work(item, index));
  }
  return made;
}

/** Runs a generator that yields wherever it may be interrupted, in slices. */
export async function runPaced<Result>(pace: Pace, steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (pace.due()) await pace.rest();
  }
}
