// The server under test, with a small knowledge base.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { freePort, start, until } from './process.mjs';

const READY_LIMIT = 60_000;

// Everybody may search and ask for a term; only members read whole documents, with `get_document`.
const FILES = {
  'tags/governance.md': ['Governance', 'How a group decides what it does.'],
  'artifacts/patterns/rotation.md': ['Rotation of roles', 'A role goes to another person after some time.'],
};

// The document that members read.
export const DOCUMENT = { contentType: 'pattern', id: 'rotation' };

// Starts `lyceum serve`. `config` is what follows the table `[server]`, `env` the secrets; started again with the same
// `folder` it finds what it kept there, and with the same `port` it has the same address.
export async function startLyceum({ folder, config, env = {}, port }) {
  if (!process.env.LYCEUM) throw new Error('LYCEUM must say where the program is; run this by cargo xtask peers');
  const listen = `127.0.0.1:${port ?? (await freePort())}`;
  const file = await written(folder, listen, config);
  const words = ['serve', '--config', file, '--listen', listen, '--data-dir', join(folder, 'data')];
  const surroundings = { PATH: process.env.PATH, HOME: folder, LYCEUM_EMBEDDER: 'none', ...env };
  const program = start(process.env.LYCEUM, words, surroundings, folder);
  const url = `http://${listen}`;
  const isReady = () => fetch(`${url}/readyz`).then((answer) => answer.ok, () => false);
  try {
    await until('the server is ready', READY_LIMIT, isReady, program);
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { url, log: program.said, stop: program.stop };
}

async function written(folder, listen, config) {
  for (const [path, [title, body]] of Object.entries(FILES)) {
    const place = join(folder, 'kb', path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, `---\ntitle: ${title}\ndate: 2025-03-01\npublish: true\n---\n\n${body}\n`);
  }
  const file = join(folder, 'lyceum.toml');
  const server = `[server]\nlisten = "${listen}"\npublic_url = "http://${listen}"\ntrusted_proxies = ["127.0.0.1"]\n`;
  const knowledge = '[[source]]\nname = "kb"\npath = "./kb"\n\n[knowledge]\nsource = "kb"\n';
  await writeFile(file, `${server}\n${config}\n\n${knowledge}`);
  return file;
}
