import { accountCommands } from './accounts.ts';
import { auditCommands } from './auditLog.ts';
import type { AnyCommand } from './command.ts';
import { domainCommands } from './domains.ts';
import { emailCommands } from './emails.ts';
import { eraseCommands } from './erase.ts';
import { findingCommands } from './findings.ts';
import { inboundCommands } from './inbound.ts';
import { keyCommands } from './keys.ts';
import { moneyCommands } from './money.ts';
import { numberCommands } from './numbers.ts';
import { messageCommands } from './messages.ts';
import { messageShowCommands } from './messages/show.ts';
import { quotaCommands } from './quotas.ts';
import { routeCommands } from './routes/commands.ts';
import { secretCommands } from './secrets.ts';
import { senderCommands } from './senders.ts';
import { simulatorCommands } from './simulator.ts';
import { statementCommands } from './statements.ts';
import { cancelCommands } from './support/cancel.ts';
import { stuckCommands } from './support/stuck.ts';
import { webhookCommands } from './support/webhooks.ts';
import { tokenCommands } from './tokens.ts';

/** Every command, in the order of the help. A new one is declared in its file and appears here. */
export const ALL_COMMANDS: readonly AnyCommand[] = [
  ...accountCommands,
  ...quotaCommands,
  ...keyCommands,
  ...tokenCommands,
  ...senderCommands,
  ...domainCommands,
  ...numberCommands,
  ...moneyCommands,
  ...statementCommands,
  ...inboundCommands,
  ...routeCommands,
  ...messageShowCommands,
  ...messageCommands,
  ...emailCommands,
  ...findingCommands,
  ...cancelCommands,
  ...webhookCommands,
  ...stuckCommands,
  ...simulatorCommands,
  ...eraseCommands,
  ...secretCommands,
  ...auditCommands,
];
