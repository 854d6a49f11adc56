// A chain of our own: anvil, and what the tests do on it.
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { createPublicClient, encodeDeployData, encodeFunctionData, http } from 'viem';

import { freePort, start, until } from './process.mjs';

const START_LIMIT = 30_000;
const GAS = '0x1000000';

// Starts a chain. It can be stopped and started again, with its state and at the same address.
export async function startChain(id, folder) {
  const [port, state] = [await freePort(), join(folder, `chain-${id}.json`)];
  const url = `http://127.0.0.1:${port}`;
  // With a retry a chain that is down would be asked again and again.
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }), cacheTime: 0 });
  const chain = { id, url, client, request: (method, ...params) => client.request({ method, params }) };
  // What is newest is safe at once.
  const words = ['--host', '127.0.0.1', '--port', port, '--chain-id', id, '--slots-in-an-epoch', '0',
    '--state', state, '--quiet'];
  let anvil;
  chain.start = async () => {
    anvil = start(anvilProgram(), words.map(String), process.env, folder);
    const answers = () => chain.request('eth_chainId').then(() => true, () => false);
    await until(`chain ${id} answers`, START_LIMIT, answers, anvil);
  };
  chain.stop = () => anvil.stop();
  chain.pause = () => anvil.pause();
  chain.resume = () => anvil.resume();
  await chain.start();
  [chain.admin] = await chain.request('eth_accounts');
  return chain;
}

// Makes a contract; gives back its address.
export async function deploy(chain, { abi, bytecode }, args = []) {
  const receipt = await transact(chain, { data: encodeDeployData({ abi, bytecode, args }) });
  return receipt.contractAddress;
}

// Calls a function of a contract that changes something.
export function send(chain, to, { abi }, functionName, args) {
  return transact(chain, { to, data: encodeFunctionData({ abi, functionName, args }) });
}

// All come from one account, which counts them: each waits for the one before.
function transact(chain, transaction) {
  const done = (chain.last ?? Promise.resolve()).then(() => inBlock(chain, transaction));
  chain.last = done.catch(() => {});
  return done;
}

async function inBlock(chain, transaction) {
  const sent = chain.request('eth_sendTransaction', { from: chain.admin, gas: GAS, ...transaction });
  const hash = await sent.catch((error) => {
    throw new Error(`chain ${chain.id} takes no transaction: ${error.shortMessage} ${error.details}`);
  });
  const found = () => chain.request('eth_getTransactionReceipt', hash);
  const receipt = await until('a transaction is in a block', 10_000, found);
  if (receipt.status !== '0x1') throw new Error(`a transaction failed on chain ${chain.id}`);
  return receipt;
}

function anvilProgram() {
  if (process.env.ANVIL) return process.env.ANVIL;
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  } catch {
    throw new Error('anvil is missing; install it from getfoundry and set ANVIL to where it is');
  }
}
