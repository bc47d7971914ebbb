import type { DevServer } from '../../dev/children.ts';
import type { Member } from './clusterFile.ts';
import { keepRunning } from './keepRunning.ts';

export type Members = {
  /** Starts a process and keeps it running; returns the first one. */
  add(name: string, start: () => Promise<DevServer>): Promise<DevServer>;
  /** In the order of their start. */
  list(): Member[];
  /** Ends all, the last started first; those of one `together` at the same time. */
  stop(): Promise<void>;
  /** Those added within stop at the same time. */
  together(adding: () => Promise<unknown>): Promise<void>;
};

/**
 * The processes of the cluster, supervised one by one.
 * @param say receives one line when a process has fallen and one when it is back
 * @param restart false leaves a process that has fallen where it is
 * @param onChange called after every start and fall
 */
export function supervisedMembers(
  say: (line: string) => void,
  restart: boolean,
  onChange: (members: Member[]) => void,
): Members {
  const members = new Map<string, Member>();
  const stages: (() => Promise<void>)[][] = [];
  let stage: (() => Promise<void>)[] | null = null;
  const list = (): Member[] => [...members.values()];
  const newStage = (): (() => Promise<void>)[] => stages[stages.push([]) - 1]!;

  return {
    list,
    async add(name, start) {
      const own = stage ?? newStage();
      const noted = async (): Promise<DevServer> => {
        const server = await start();
        const { pid, port } = server;
        members.set(name, { name, pid, address: port === 0 ? null : `127.0.0.1:${port}` });
        onChange(list());
        return server;
      };
      const server = await noted();
      if (restart) {
        own.push(keepRunning(server, name, noted, say));
        return server;
      }
      let stopping = false;
      own.push(() => {
        stopping = true;
        return server.stop();
      });
      void server.ended.then((how) => {
        if (stopping) return;
        say(`${name} has ended unexpectedly (${how}); it is not started again (--no-restart).`);
        members.delete(name);
        onChange(list());
      });
      return server;
    },
    async together(adding) {
      stage = newStage();
      try {
        await adding();
      } finally {
        stage = null;
      }
    },
    async stop() {
      const failures: unknown[] = [];
      for (const group of stages.splice(0).reverse()) {
        for (const result of await Promise.allSettled(group.map((stopOne) => stopOne())))
          if (result.status === 'rejected') failures.push(result.reason);
      }
      if (failures.length > 0) throw new AggregateError(failures, 'some processes did not stop cleanly');
    },
  };
}
