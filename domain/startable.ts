import type { Channel } from './channelNames.ts';

/** What has to be known of a message to start its workflow. */
export interface StartableMessage {
  id: string;
  channel: Channel;
  accountId: string;
  requestId: string;
  /** One of several recipients of its request. */
  batched: boolean;
  route: string;
  /** When to submit, epoch milliseconds; null means at once. */
  sendAt: number | null;
  /** When the wait for a delivery report ends, epoch milliseconds. */
  giveUpAt: number;
  priority: boolean;
}
