/** What a message is sent as (v2.3.0, Message, `type`). */
export type Channel = 'sms' | 'mms' | 'vms';

/** All that the interface knows. */
export const CHANNELS: readonly Channel[] = ['sms', 'mms', 'vms'];

/** What a message is sent as unless its request names a channel. */
export const DEFAULT_CHANNEL: Channel = 'sms';
