// The contracts of the tests: those of others out of their packages, and our own from `contracts/`.
// What is compiled is kept in `target/chain`, by the digest of the source.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CACHE, openPackages, packageFile } from './packages.mjs';

// The compiler is as large as it is slow; the version is that of package.json.
const COMPILER = 'solc 0.8.19';

const HATS = '@fractal-framework/fractal-contracts';
const HATS_FILES = ['mocks/MockHats.sol', 'interfaces/hats/IHats.sol', 'interfaces/hats/IHatsIdUtilities.sol',
  'interfaces/hats/HatsErrors.sol', 'interfaces/hats/HatsEvents.sol'];

const SAFE = '@safe-global/safe-contracts';
const SAFE_PARTS = ['SafeL2.sol/SafeL2', 'proxies/SafeProxyFactory.sol/SafeProxyFactory',
  'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler'];

// Every contract by its name: `abi`, `bytecode` that makes it, and `runtime` that stays.
export async function contracts() {
  await openPackages();
  const [own, hats] = [await compiled(await ownSources()), await compiled(hatsSources())];
  const others = [
    artifact('@ensdomains/ens', 'build/contracts/ENSRegistry.json'),
    artifact('@ensdomains/resolver', 'build/contracts/PublicResolver.json'),
    ...SAFE_PARTS.map((part) => artifact(SAFE, `build/artifacts/contracts/${part}.json`)),
  ];
  return Object.assign({}, own, { Hats: hats.MockHats }, ...others);
}

function artifact(name, path) {
  const { contractName, abi, bytecode, deployedBytecode } = JSON.parse(packageFile(name, path));
  return { [contractName]: { abi, bytecode, runtime: deployedBytecode } };
}

async function ownSources() {
  const names = ['Wallets.sol', 'Names.sol'];
  const texts = names.map((name) => readFile(new URL(`contracts/${name}`, import.meta.url), 'utf8'));
  return sources(names, await Promise.all(texts));
}

function hatsSources() {
  return sources(HATS_FILES, HATS_FILES.map((file) => packageFile(HATS, `contracts/${file}`)));
}

function sources(names, texts) {
  return Object.fromEntries(names.map((name, at) => [name, { content: texts[at] }]));
}

async function compiled(sources) {
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
  };
  const input = JSON.stringify({ language: 'Solidity', sources, settings });
  const digest = createHash('sha256').update(COMPILER).update(input).digest('hex');
  const file = join(CACHE, `${digest}.json`);
  const kept = await readFile(file, 'utf8').catch(() => null);
  if (kept) return JSON.parse(kept);
  const made = await compile(input);
  await mkdir(CACHE, { recursive: true });
  // Others may be at the same: each writes a whole file.
  await writeFile(`${file}.${process.pid}`, JSON.stringify(made));
  await rename(`${file}.${process.pid}`, file);
  return made;
}

async function compile(input) {
  const { default: solc } = await import('solc');
  const output = JSON.parse(solc.compile(input));
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));
  const made = Object.values(output.contracts).flatMap((file) => Object.entries(file));
  return Object.fromEntries(made.map(([name, { abi, evm }]) => [
    name,
    { abi, bytecode: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
  ]));
}
