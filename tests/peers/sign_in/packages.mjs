// Files of npm packages that are fetched but not installed: what they depend on is large, and nothing of it is needed.
// They are fetched once into `target/chain`, and what was fetched must have the digest of `packages.json`.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

export const CACHE = fileURLToPath(new URL('../../../target/chain/', import.meta.url));

const LIMIT = 120_000;
const BLOCK = 512;

const opened = new Map();

// Opens all packages; those that are missing are fetched.
export async function openPackages() {
  const packages = JSON.parse(await readFile(new URL('packages.json', import.meta.url), 'utf8'));
  for (const wanted of packages) {
    const file = join(CACHE, `${wanted.name.slice(1).replace('/', '-')}-${wanted.version}.tgz`);
    const kept = await readFile(file).catch(() => null);
    const isGood = kept && digest(kept) === wanted.integrity;
    opened.set(wanted.name, files(gunzipSync(isGood ? kept : await fetched(wanted, file))));
  }
}

// The text of a file of a package.
export function packageFile(name, path) {
  const bytes = opened.get(name)?.get(`package/${path}`);
  if (bytes === undefined) throw new Error(`there is no package ${name} with a file ${path}`);
  return bytes.toString('utf8');
}

async function fetched({ name, version, integrity }, file) {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    const words = ['pack', `${name}@${version}`, '--loglevel=error', '--ignore-scripts', '--pack-destination', folder];
    const told = await promisify(execFile)('npm', words, { timeout: LIMIT, cwd: folder }).catch((error) => {
      throw new Error(`${name}@${version} can't be fetched; npm and its registry are needed: ${error.message}`);
    });
    const there = join(folder, told.stdout.trim().split('\n').at(-1));
    const bytes = await readFile(there);
    if (digest(bytes) !== integrity) {
      throw new Error(`${name}@${version} is not what packages.json says: it has the digest ${digest(bytes)}`);
    }
    await rename(there, file);
    return bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function digest(bytes) {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

// The files of a tar archive, as npm writes it.
function files(archive) {
  const found = new Map();
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const text = (from, length) => archive.toString('utf8', at + from, at + from + length).split('\0')[0].trim();
    const size = parseInt(text(124, 12), 8);
    const path = [text(345, 155), text(0, 100)].filter((part) => part !== '').join('/');
    found.set(path, archive.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return found;
}
