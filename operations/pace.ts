// So long a piece of work keeps the process to itself: a request in between waits for a few of them at most.
const SLICE_MS = 8;

/** Cuts long work of one request into slices, so that other requests are answered in between. */
export interface Pace {
  /** Whether the slice is used up; then `rest` is due. Cheap enough to be asked for each element of a list. */
  due(): boolean;
  /** Lets everybody else go first: one slice of long work is done in each turn of the event loop, whoever's it is. */
  rest(): Promise<void>;
}

const waiting: (() => void)[] = [];
let planned = false;

function resumeOne(): void {
  planned = false;
  waiting.shift()?.();
  plan();
}

function plan(): void {
  if (planned || waiting.length === 0) return;
  planned = true;
  setImmediate(resumeOne);
}

/** A pace for one request, its first slice beginning now. */
export function newPace(): Pace {
  let until = performance.now() + SLICE_MS;
  return {
    due: () => performance.now() >= until,
    rest: () =>
      new Promise((resume) => {
        waiting.push(() => {
          until = performance.now() + SLICE_MS;
          resume();
        });
        plan();
      }),
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
