import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder for what is downloaded or built once per machine: `$XDG_CACHE_HOME/goniec`, else `~/.cache/goniec`. */
export function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base !== undefined && base.startsWith('/') ? base : join(homedir(), '.cache'), 'goniec');
}
