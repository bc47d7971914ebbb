import { mms } from './channels/mms.ts';
import { sms } from './channels/sms.ts';
import { vms } from './channels/vms.ts';
import type { Channel, ChannelRules, Declaration } from './channelDeclaration.ts';

const declared: Record<Channel, ChannelRules> = { sms: rules(sms), mms: rules(mms), vms: rules(vms) };

export function rulesOf(channel: Channel): ChannelRules {
  return declared[channel];
}

/** Replaces a channel's declaration. */
export function declareChannel<Content>(declaration: Declaration<Content>): void {
  declared[declaration.channel] = rules(declaration);
}

function rules<Content>({ read, measure, cutAs, show, ...traits }: Declaration<Content>): ChannelRules {
  return {
    ...traits,
    measure: (stored) => measure(read(stored)),
    cutAs: (stored, cut) => cutAs(read(stored), cut ?? measure(read(stored)).cut),
    show: (stored) => show(read(stored)),
  };
}
