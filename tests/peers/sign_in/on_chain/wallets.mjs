// Accounts that are contracts, good and bad, and what is signed twice.
import assert from 'node:assert/strict';

import { attempt, messageFor, redeem, signIn, signerOf, verify, visit } from '../wallet.mjs';

// One answer of a chain may take five seconds.
const LONGEST = 6_000;

export async function wallets({ that }, world, { url }) {
  const [owner, other, third] = world.accounts.slice(10);
  const refused = async (signer, chainId) => {
    const started = Date.now();
    const { verified } = await attempt({ url, signer, chainId });
    assert.equal(verified.status, 401, verified.text);
    assert.ok(Date.now() - started < LONGEST, `it took ${Date.now() - started} ms`);
  };
  const address = await world.wallet1271(owner.address);
  await that('a contract signs in by its owner (EIP-1271)', () => signIn({ url, signer: signerOf(owner, address) }));
  await that('a contract does not sign in by somebody else', () => refused(signerOf(other, address)));
  await that('a contract does not sign in for a chain that it is not on, nor for one without its roles', async () => {
    await refused(signerOf(owner, address), 1);
    const elsewhere = await world.wallet1271(owner.address, world.mainnet);
    await refused(signerOf(owner, elsewhere), 10);
    // It is good there, and still not whoever has that address where the hats are.
    await assert.rejects(signIn({ url, signer: signerOf(owner, elsewhere), chainId: 1 }), /contract wallets sign in on chain 10/);
  });
  await that('a contract that wears a hat is a member', async () => {
    await world.hat(address, '30.3.5');
    const { scope } = await signIn({ url, signer: signerOf(owner, address) });
    assert.match(scope, /knowledge:read/);
  });
  await that('a Safe of two signs in by both and not by one', async () => {
    const safe = await world.safe([owner.address, other.address], 2);
    const by = (...accounts) => ({ address: safe.address, sign: (message) => safe.sign(accounts, message) });
    await signIn({ url, signer: by(owner, other) });
    await refused(by(owner));
    await refused(by(owner, owner));
    await refused(by(owner, third));
  });
  await that('a contract that is not there yet signs in, and stays not there (ERC-6492)', async () => {
    const wallet = await world.counterfactual(owner.address);
    const before = await world.optimism.client.getBlockNumber();
    await signIn({ url, signer: wrapped(wallet, owner, 'wrap') });
    assert.equal(await world.optimism.client.getCode({ address: wallet.address }), undefined);
    assert.equal(await world.optimism.client.getBlockNumber(), before);
    await refused(wrapped(wallet, other, 'wrap'));
    await refused(signerOf(owner, wallet.address));
  });
  await that('a contract whose factory refuses does not sign in', async () => {
    const wallet = await world.counterfactual(owner.address);
    await refused(wrapped(wallet, owner, 'refused'));
  });
  const odd = { Reverting: 'refuses', Burning: 'burns all gas', Shouting: 'answers a megabyte', Curt: 'says too little' };
  for (const [kind, does] of Object.entries(odd)) {
    await that(`a contract that ${does} does not sign in`, async () => {
      await refused(signerOf(owner, await world.odd(kind)));
    });
  }
  await that('an account that lends itself the code of a contract signs in by its own key (EIP-7702)', async () => {
    const code = `0xef0100${address.slice(2)}`;
    await world.optimism.request('anvil_setCode', third.address, code);
    await signIn({ url, account: third });
    await refused(signerOf(owner, third.address));
  });
  await that('a signature that is not good uses the message up', async () => {
    const page = await visit(url);
    const message = await messageFor(page, owner.address);
    const bad = await verify(page, message, await other.signMessage({ message }));
    assert.equal(bad.status, 401, bad.text);
    const good = await verify(page, message, await owner.signMessage({ message }));
    assert.equal(good.status, 400, good.text);
  });
  await that('of 50 who send the same signed message at once exactly one gets in', async () => {
    for (const signer of [signerOf(owner), signerOf(owner, address)]) await oneOfMany(url, signer);
  });
}

function wrapped(wallet, account, how) {
  return { address: wallet.address, sign: async (message) => wallet[how](await account.signMessage({ message })) };
}

async function oneOfMany(url, signer) {
  const page = await visit(url);
  const message = await messageFor(page, signer.address);
  const signature = await signer.sign(message);
  const answers = await Promise.all(Array.from({ length: 50 }, () => verify(page, message, signature)));
  const count = (status) => answers.filter((answer) => answer.status === status).length;
  assert.deepEqual([count(200), count(400)], [1, 49]);
  await redeem(page, answers.find((answer) => answer.status === 200));
}
