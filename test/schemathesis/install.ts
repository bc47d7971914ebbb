import { join } from 'node:path';
import { installedPythonPackage } from '../support/pythonPackage.ts';

const VERSION = '4.32.5';

/**
 * Finds schemathesis in the cache folder, or installs it there from PyPI: once per machine, a minute.
 * @returns the path of its command
 * @throws Error when Python 3.10 or newer, or the package index, cannot be used
 */
export async function installedSchemathesis(): Promise<string> {
  return join(await installedPythonPackage('schemathesis', VERSION), 'schemathesis');
}
