import type { Mount } from '../api/app.ts';
import { assistantTools } from '../mcp/door.ts';
import type { Config } from './config.ts';

/** The doors beside the two interfaces, as configured. */
export function configuredDoors(config: Config): Mount[] {
  const { MCP_CONFIRM_RECIPIENTS: recipients, MCP_CONFIRM_GROSZE: costGrosze } = config;
  return [assistantTools({ recipients, costGrosze })];
}
