import { spawn } from 'node:child_process';

/** Runs a program of Node.js, which writes where we do. @returns its exit code; 1 where a signal ended it */
export function runNode(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
