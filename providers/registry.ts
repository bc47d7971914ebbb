import { createRegistry } from './kindRegistry.ts';
import { resend } from './resend/kind.ts';
import { simulator } from './simulator/kind.ts';
import { smpp } from './smpp/kind.ts';
import { smsapi } from './smsapi/kind.ts';
import { smtp } from './smtp/kind.ts';

/** All provider kinds. Each is declared in its folder and listed here. */
export const providerKinds = createRegistry([smpp, smsapi, resend, smtp, simulator]);
