import { createRegistry } from './kindRegistry.ts';
import { resend } from './resend/kind.ts';
import { simulator } from './simulator/kind.ts';
import { smpp } from './smpp/kind.ts';
import { smsapi } from './smsapi/kind.ts';
import { smtp } from './smtp/kind.ts';

/** Every kind of provider. A new one is declared in its folder and appears here. */
export const providerKinds = createRegistry([smpp, smsapi, resend, smtp, simulator]);
