/** What a message is sent as. */
export type Channel = 'sms' | 'mms' | 'vms';
