import { createTurns } from '../concurrency/turns.ts';
import { checkPatience } from '../db/patience.ts';

// So long the work of accounts keeps the process to itself: a request in between waits for a few of them at most.
const SLICE_MS = 8;
// At most so many of those that wait go on within one slice.
const RESUMED_AT_ONCE = 64;

/** Cuts long work of one request into slices, so that other requests are answered in between. */
export interface Pace {
  /** Whether the slice is used up; then `rest` is due. Cheap enough to be asked for each element of a list. */
  due(): boolean;
  /**
   * Lets others go first: accounts take turns at the next slice, one in each turn of the event loop.
   * @throws OutOfPatienceError when nobody waits for the work any more
   */
  rest(): Promise<void>;
}

/** A slice of all requests together: a hundred that come at once are as long as one that takes as long. */
interface Slice {
  until: number;
}

let slice: Slice | null = null;

function newSlice(): Slice {
  const until = performance.now() + SLICE_MS;
  return { until };
}

/** The slice of this turn of the event loop, beginning now if nobody has worked in it yet. */
function presentSlice(): Slice {
  if (slice !== null) return slice;
  const begun = newSlice();
  slice = begun;
  setImmediate(() => {
    if (slice === begun) slice = null;
  });
  return begun;
}

const isUsedUp = ({ until }: Slice): boolean => performance.now() >= until;

const waiting = createTurns<() => void>();
let planned = false;

function plan(): void {
  if (planned || waiting.waiting() === 0) return;
  planned = true;
  let resumed: Slice | null = null;
  // An immediate for each: what one goes on with is done before the next one is looked at.
  for (let i = Math.min(waiting.waiting(), RESUMED_AT_ONCE); i > 0; i -= 1) {
    setImmediate(() => {
      if (resumed !== null && isUsedUp(resumed)) return;
      slice = resumed ??= newSlice();
      for (const resume of waiting.take(1)) resume();
    });
  }
  setImmediate(() => {
    // What comes in the next turn has a slice of its own.
    if (slice === resumed) slice = null;
    planned = false;
    plan();
  });
}

/**
 * A pace for one request.
 * @param owner account id; null: nobody's in particular, as the health of the service, which waits for no other's work
 */
export function newPace(owner: string | null): Pace {
  return owner === null ? paceOfNobody() : paceOf(owner);
}

function paceOf(owner: string): Pace {
  presentSlice();
  return {
    due: () => isUsedUp(presentSlice()),
    async rest() {
      await new Promise<void>((resume) => {
        waiting.add(owner, resume);
        plan();
      });
      checkPatience();
    },
  };
}

function paceOfNobody(): Pace {
  let own = newSlice();
  return {
    due: () => isUsedUp(own),
    async rest() {
      await new Promise<void>((resume) => void setImmediate(resume));
      checkPatience();
      own = newSlice();
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
