import type { Channel } from '../../domain/channelDeclaration.ts';

/** A message of each kind as it is stored: what a test has that has to hold for all of them. */
export const STORED: readonly { channel: Channel; text: string; content?: object }[] = [
  { channel: 'sms', text: 'Poufne' },
  { channel: 'mms', text: '<smil><body><text>Poufne</text></body></smil>', content: { subject: 'Poufne' } },
  { channel: 'vms', text: 'Poufne', content: { voice: 'maja', tries: 2 } },
];
