// Two chains with what sign-in reads on them, each contract at the address where the real one is.
import {
  concat, encodeAbiParameters, encodeFunctionData, getAddress, hashMessage, keccak256, labelhash, namehash, pad,
  parseEventLogs, zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

import { deploy, send, startChain } from './chain.mjs';
import { contracts } from './contracts.mjs';

const HATS = '0x3bc1A0Ad72417f2d411118085256fC53CBdDd137';
const REGISTRY = '0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e';
const RESOLVER = '0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe';

const NOBODY = '0x0000000000000000000000000000000000000000';
const NOT_YET_THERE = `0x${'6492'.repeat(16)}`;

// The chains 1 and 10, with hats, names and wallets. `folder` is where they keep their state.
export async function startWorld(folder) {
  const code = await contracts();
  const [mainnet, optimism] = await Promise.all([startChain(1, folder), startChain(10, folder)]);
  const keys = Array.from({ length: 30 }, generatePrivateKey);
  const stop = () => Promise.all([mainnet.stop(), optimism.stop()]);
  const world = { mainnet, optimism, keys, accounts: keys.map(privateKeyToAccount), stop };
  try {
    const parts = await Promise.all([hats(optimism, code), names(mainnet, code), wallets(optimism, mainnet, code)]);
    return Object.assign(world, ...parts);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function hats(chain, { Hats }) {
  await chain.request('anvil_setCode', HATS, Hats.runtime);
  const change = (name, ...args) => send(chain, HATS, Hats, name, args);
  for (let tree = 1; tree <= 30; tree++) await change('mintTopHat', chain.admin, '', '');
  const below = (hat) => change('createHat', hatId(hat), '', 100, chain.admin, chain.admin, true, '');
  for (let level = 1; level <= 3; level++) await below('30');
  for (let level = 1; level <= 5; level++) await below('30.3');
  return {
    // Gives somebody a hat.
    hat: (address, hat) => change('mintHat', hatId(hat), address),
    // Takes it from them.
    unhat: (address, hat) => change('setHatWearerStatus', hatId(hat), address, false, true),
    // Turns a hat off for everybody, and on again.
    toggle: (hat, isOn) => change('setHatStatus', hatId(hat), isOn),
  };
}

// `30.3.5` as the contract counts: the tree in 32 bits, then 14 levels of 16.
function hatId(text) {
  const [tree, ...levels] = text.split('.').map(BigInt);
  const id = levels.reduce((id, level) => (id << 16n) | level, tree);
  return id << BigInt(16 * (14 - levels.length));
}

async function names(chain, { ENSRegistry, PublicResolver, UniversalResolver, Outside }) {
  await chain.request('anvil_setCode', REGISTRY, ENSRegistry.runtime);
  await chain.request('anvil_setCode', RESOLVER, UniversalResolver.runtime);
  // Whoever made the registry owns the root: the first record.
  const owner = keccak256(concat([zeroHash, zeroHash]));
  await chain.request('anvil_setStorageAt', REGISTRY, owner, pad(chain.admin, { size: 32 }));
  const resolver = await deploy(chain, PublicResolver, [REGISTRY]);
  const set = (name, ...args) => send(chain, resolver, PublicResolver, name, args);
  const own = (parent, label, by = resolver) =>
    send(chain, REGISTRY, ENSRegistry, 'setSubnodeRecord', [namehash(parent), labelhash(label), chain.admin, by, 0n]);
  await own('', 'eth');
  await own('', 'reverse');
  await own('reverse', 'addr');
  // Says which name an account has; whether the name leads back to it is another matter.
  const claim = async (address, name) => {
    const label = address.slice(2).toLowerCase();
    await own('addr.reverse', label);
    await set('setName', namehash(`${label}.addr.reverse`), name);
  };
  const [labelOf, parentOf] = [(name) => name.split('.')[0], (name) => name.split('.').slice(1).join('.')];
  return {
    claim,
    // A name that leads to an account and back, with its texts.
    name: async (name, address, texts = {}) => {
      await own(parentOf(name), labelOf(name));
      const word = encodeFunctionData({
        abi: PublicResolver.abi.filter((one) => one.name === 'setAddr' && one.inputs.length === 2),
        args: [namehash(name), address],
      });
      await set('multicall', [word]);
      for (const [key, text] of Object.entries(texts)) await set('setText', namehash(name), key, text);
      await claim(address, name);
    },
    // The same with texts that lie outside the chain, at these addresses.
    nameOutside: async (name, address, urls) => {
      const outside = await deploy(chain, Outside);
      await send(chain, outside, Outside, 'set', [namehash(name), address, urls]);
      await own(parentOf(name), labelOf(name), outside);
      await claim(address, name);
    },
  };
}

async function wallets(chain, mainnet, code) {
  const factory = await deploy(chain, code.Factory);
  const safes = {
    singleton: await deploy(chain, code.SafeL2),
    proxies: await deploy(chain, code.SafeProxyFactory),
    handler: await deploy(chain, code.CompatibilityFallbackHandler),
  };
  let salt = 0n;
  return {
    // A contract that takes the signatures of its owner.
    wallet1271: async (owner, on = chain) => getAddress(await deploy(on, code.Wallet, [owner])),
    // A contract that answers as none should.
    odd: async (kind) => getAddress(await deploy(chain, code[kind])),
    safe: (owners, threshold) => safe(chain, code, safes, owners, threshold, salt++),
    // A wallet that is not there yet. `wrap` says how it is made; `refused` has it made by a factory that refuses.
    counterfactual: async (owner) => {
      const word = pad(`0x${(salt++).toString(16)}`, { size: 32 });
      const call = { address: factory, abi: code.Factory.abi };
      const address = await chain.client.readContract({ ...call, functionName: 'place', args: [owner, word] });
      const made = encodeFunctionData({ ...call, functionName: 'make', args: [owner, word] });
      const refusal = encodeFunctionData({ ...call, functionName: 'refuse' });
      return {
        address,
        wrap: (signature) => notYetThere(factory, made, signature),
        refused: (signature) => notYetThere(factory, refusal, signature),
      };
    },
  };
}

// A signature as ERC-6492 wraps it.
function notYetThere(factory, call, signature) {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }];
  return concat([encodeAbiParameters(types, [factory, call, signature]), NOT_YET_THERE]);
}

async function safe(chain, code, { singleton, proxies, handler }, owners, threshold, salt) {
  const setup = encodeFunctionData({
    abi: code.SafeL2.abi,
    functionName: 'setup',
    args: [owners, BigInt(threshold), NOBODY, '0x', handler, NOBODY, 0n, NOBODY],
  });
  const { abi } = code.SafeProxyFactory;
  const receipt = await send(chain, proxies, { abi }, 'createProxyWithNonce', [singleton, setup, salt]);
  const [{ args }] = parseEventLogs({ abi, logs: receipt.logs, eventName: 'ProxyCreation' });
  const address = getAddress(args.proxy);
  // Each owner signs the message of the Safe about the message, in the order of their addresses.
  const sign = async (accounts, message) => {
    const data = {
      domain: { chainId: chain.id, verifyingContract: address },
      types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
      primaryType: 'SafeMessage',
      message: { message: hashMessage(message) },
    };
    const sorted = [...accounts].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
    return concat(await Promise.all(sorted.map((account) => account.signTypedData(data))));
  };
  return { address, sign };
}
