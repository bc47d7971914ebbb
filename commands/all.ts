import type { AnyCommand } from './command.ts';
import { accountCommands } from './accounts.ts';
import { auditCommands } from './audit.ts';
import { emailCommands } from './emails.ts';
import { eraseCommands } from './erase.ts';
import { findCommands } from './find.ts';
import { inboundCommands } from './inbound.ts';
import { invoiceCommands } from './invoices.ts';
import { keyCommands } from './keys.ts';
import { messageCommands } from './messages.ts';
import { moneyCommands } from './money.ts';
import { peopleCommands } from './people.ts';
import { routeCommands } from './routes.ts';
import { routeRuleCommands } from './routeRules.ts';
import { senderCommands } from './senders.ts';
import { simulatorCommands } from './simulator.ts';
import { staffCommands } from './staff.ts';
import { stuckCommands } from './stuck.ts';
import { webhookCommands } from './webhooks.ts';

/** Everything that staff may ask for. */
export const ALL_COMMANDS: readonly AnyCommand[] = [
  ...accountCommands,
  ...keyCommands,
  ...senderCommands,
  ...peopleCommands,
  ...staffCommands,
  ...moneyCommands,
  ...invoiceCommands,
  ...inboundCommands,
  ...simulatorCommands,
  ...routeCommands,
  ...routeRuleCommands,
  ...messageCommands,
  ...emailCommands,
  ...webhookCommands,
  ...findCommands,
  ...stuckCommands,
  ...eraseCommands,
  ...auditCommands,
];
