import type { DevServer } from '../../dev/children.ts';
import { keepRunning } from './keepRunning.ts';

/** A process of the cluster as it is at this moment. */
export type Member = { name: string; pid: number; address: string | null };

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

type MembersOptions = {
  /** Receives one line when a process has fallen and one when it is back. */
  say: (line: string) => void;
  /** False leaves a process that has fallen where it is. */
  restart: boolean;
  /** Called after every start and fall. */
  onChange: (members: Member[]) => void;
};

/** The processes of the cluster, supervised one by one. */
export function supervisedMembers({ say, restart, onChange }: MembersOptions): Members {
  const members: Member[] = [];
  const stages: (() => Promise<void>)[][] = [];
  let stage: (() => Promise<void>)[] | null = null;

  const note = (name: string, { pid, port }: DevServer): void => {
    const member = { name, pid, address: port === 0 ? null : `127.0.0.1:${port}` };
    const known = members.findIndex((other) => other.name === name);
    if (known >= 0) members[known] = member;
    else members.push(member);
    onChange([...members]);
  };
  const forget = (name: string): void => {
    const index = members.findIndex((member) => member.name === name);
    if (index >= 0) members.splice(index, 1);
    onChange([...members]);
  };
  const add: Members['add'] = async (name, start) => {
    const own = stage ?? newStage();
    const noted = async (): Promise<DevServer> => {
      const server = await start();
      note(name, server);
      return server;
    };
    const server = await noted();
    if (restart) {
      const kept = keepRunning(server, name, noted, say);
      own.push(() => kept.stop());
    } else {
      let stopping = false;
      own.push(() => {
        stopping = true;
        return server.stop();
      });
      void server.ended.then((how) => {
        if (stopping) return;
        say(`${name} has ended unexpectedly (${how}); it is not started again (--no-restart).`);
        forget(name);
      });
    }
    return server;
  };
  const newStage = (): (() => Promise<void>)[] => {
    const fresh: (() => Promise<void>)[] = [];
    stages.push(fresh);
    return fresh;
  };

  return {
    add,
    list: () => [...members],
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
