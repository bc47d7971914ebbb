import { CancellationScope, condition, setCurrentDetails } from '@temporalio/workflow';
import type { Acceptance } from '../../domain/acceptance.ts';
import { local } from './local.ts';
import type { MessageState } from './state.ts';

/** Charges the request, once, whoever asks for it first. */
export function charge(state: MessageState): Promise<Acceptance> {
  state.charging ??= CancellationScope.nonCancellable(async () => {
    state.acceptance = await local.charge(state.input.requestId, state.input.lastCallMs ?? null);
    return state.acceptance;
  });
  return state.charging;
}

/** A draft: waits for its charge. @returns whether it is accepted */
export async function charged(state: MessageState): Promise<boolean> {
  setCurrentDetails('Waits for its charge.');
  // The update may have been lost with the server that took it: then nobody asks, and nobody would end this.
  if (!state.acceptance && !state.charging) await charge(state);
  await condition(() => state.acceptance !== undefined);
  return state.acceptance?.accepted === true;
}
