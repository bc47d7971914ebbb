import type { AnyLink } from '../crash/play.ts';
import type { Toxic } from './toxiproxy.ts';

/** What a server is to those who use it, and the ways to it that are poisoned together. */
export const SERVERS = {
  postgres: ['api to postgres', 'worker to postgres'],
  temporal: ['api to temporal', 'worker to temporal'],
  smsc: ['worker to smsc'],
  receiver: ['worker to receiver'],
} as const satisfies Record<string, readonly AnyLink[]>;
export type Server = keyof typeof SERVERS;

/** Something wrong with a network. `stranded`: connections die without a word, new ones work. */
export interface Fault {
  name: string;
  toxics: readonly Toxic[] | 'refused' | 'stranded';
  /** Slow, yet nothing is lost: whoever waits gets its answer. */
  bearable: boolean;
}

const both = ['upstream', 'downstream'] as const;

/** Every fault, as it is put on each way. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'latency of 100 ms and jitter of 50 ms, each way',
    toxics: [{ type: 'latency', attributes: { latency: 100, jitter: 50 }, streams: both }],
    bearable: true,
  },
  {
    name: 'bandwidth of 100 kB/s',
    toxics: [{ type: 'bandwidth', attributes: { rate: 100 }, streams: both }],
    bearable: true,
  },
  {
    name: 'slices of 60 bytes',
    toxics: [
      { type: 'slicer', attributes: { average_size: 60, size_variation: 30, delay: 20 }, streams: both },
    ],
    bearable: true,
  },
  {
    name: 'resets after half a second',
    toxics: [{ type: 'reset_peer', attributes: { timeout: 500 }, streams: both }],
    bearable: false,
  },
  { name: 'connections refused', toxics: 'refused', bearable: false },
  {
    name: 'half-open: nothing arrives, nothing ends',
    toxics: [{ type: 'timeout', attributes: { timeout: 0 }, streams: both }],
    bearable: false,
  },
  { name: 'connections that die without a word', toxics: 'stranded', bearable: false },
];

/** Whether the API has to answer reads as if nothing were wrong. */
export const readsAreUnharmed = (server: Server): boolean => server !== 'postgres';

/** Whether messages have to be accepted as if nothing were wrong. */
export const sendsAreUnharmed = (server: Server): boolean => server === 'smsc' || server === 'receiver';
