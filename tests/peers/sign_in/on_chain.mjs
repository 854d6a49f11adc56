// Sign-in on real chains: anvil, the contracts of Hats, ENS and Safe, and wallets of our own, good and bad.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { claims } from './checks.mjs';
import { names, startGateway } from './on_chain/names.mjs';
import { outages } from './on_chain/outages.mjs';
import { roles } from './on_chain/roles.mjs';
import { wallets } from './on_chain/wallets.mjs';
import { startLyceum } from './server.mjs';
import { secrets } from './wallet.mjs';
import { startWorld } from './world.mjs';

// Stands in the addresses of the chains as the key of a provider would.
const CANARY = 'CANARY-5f1d0c';

const folder = process.env.FOLDER;
if (!folder) throw new Error('FOLDER must name an empty folder; run this by cargo xtask peers');

const ends = [];
const checks = claims();
try {
  const world = await startWorld(folder);
  ends.push(world.stop);
  world.keys.forEach((key) => secrets.add(key));
  const gateway = await startGateway();
  ends.push(gateway.stop);
  const urls = { MAINNET_RPC_URL: keyed(world.mainnet.url), OPTIMISM_RPC_URL: keyed(world.optimism.url) };
  const wrong = { ...urls, OPTIMISM_RPC_URL: urls.MAINNET_RPC_URL };
  const [usual, brief, trusting, astray] = await Promise.all([
    serve('usual', '', urls),
    serve('brief', 'roles_seconds = 1', urls),
    serve('trusting', `trusted_hosts = ["${gateway.host}"]`, urls),
    serve('astray', '', wrong),
  ]);
  await roles(checks, world, usual, brief);
  await wallets(checks, world, usual);
  await names(checks, world, usual, trusting, gateway);
  await outages(checks, world, usual, brief, astray);
  const servers = [usual, brief, trusting, astray];
  await Promise.all(servers.map((server) => server.stop()));
  secrets.add(CANARY);
  await checks.that('no secret stands in what the servers logged', () => {
    for (const server of servers) {
      assert.match(server.log(), /listening/);
      hasNone('the log', server.log());
    }
  });
  await checks.that('no account stands in what the servers logged', () => {
    const told = servers.map((server) => server.log().toLowerCase()).join('');
    const found = world.accounts.filter(({ address }) => told.includes(address.slice(2).toLowerCase()));
    assert.equal(found.length, 0, `${found.length} accounts`);
  });
  await checks.that('no secret stands in what the servers keep', async () => {
    for (const server of servers) await keepsNone(join(server.folder, 'data'));
  });
} finally {
  await Promise.allSettled(ends.map((end) => end()));
}
checks.end(`sign-in on two chains (${secrets.size} secrets)`);

function keyed(url) {
  return `${url}/?key=${CANARY}`;
}

async function serve(name, line, env) {
  const own = join(folder, name);
  await mkdir(own, { recursive: true });
  const hats = '[auth.hats]\ntiers = { "30.3.1" = "vibecoder", "30.3.5" = "member" }';
  const config = `[auth]\nmode = "oauth"\n${line}\n\n${hats}`;
  // Whatever can be logged is: no level may tell a secret.
  const server = await startLyceum({ folder: own, config, env: { ...env, LYCEUM_LOG: 'trace' } });
  ends.push(server.stop);
  return { ...server, folder: own };
}

async function keepsNone(data) {
  const files = await readdir(data, { recursive: true, withFileTypes: true });
  for (const file of files.filter((one) => one.isFile())) {
    hasNone(file.name, (await readFile(join(file.parentPath, file.name))).toString('latin1'));
  }
}

function hasNone(what, text) {
  const lower = text.toLowerCase();
  const found = [...secrets].filter((secret) => lower.includes(secret.toLowerCase().replace(/^0x/, '')));
  assert.equal(found.length, 0, `${what} has ${found.length} secrets, such as ${found[0]?.slice(0, 12)}…`);
}
