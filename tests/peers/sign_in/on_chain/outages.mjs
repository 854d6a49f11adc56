// Chains that are down: nothing is guessed, and nothing is used up.
import assert from 'node:assert/strict';

import { callByMcp, callByRest, reads } from '../calls.mjs';
import { DOCUMENT } from '../server.mjs';
import { until } from '../process.mjs';
import { attempt, messageFor, redeem, refresh, signIn, signerOf, verify, visit } from '../wallet.mjs';

export async function outages({ that }, world, { url }, brief, astray) {
  // What an account is called is remembered, so each that meets a chain of names that is down is new.
  const [person, owner, first, second] = world.accounts.slice(5);
  await world.hat(person.address, '30.3.5');
  const [tokens, again] = [await signIn({ url, account: person }), await signIn({ url, account: person })];
  const shortly = await signIn({ url: brief.url, account: person });
  const [byKey, byContract] = [await signed(url, signerOf(person)), await signed(url, await contract(world, owner))];
  await world.optimism.stop();
  try {
    await that('while the chain of hats is down a refresh is answered with 503', async () => {
      const answer = await refresh(tokens);
      assert.equal(answer.status, 503, answer.text);
      assert.equal(answer.json.error, 'temporarily_unavailable');
      assert.match(answer.headers.get('retry-after'), /^\d+$/);
    });
    await that('while it is down a sign-in is answered with 503, by key and by contract', async () => {
      for (const [page, message, signature] of [byKey, byContract]) {
        const answer = await verify(page, message, signature);
        assert.equal(answer.status, 503, answer.text);
        assert.match(answer.headers.get('retry-after'), /^\d+$/);
      }
    });
    await that('while it is down a request is answered with 503 as soon as the role is too old', async () => {
      for (const call of [callByMcp, callByRest]) {
        const isUnavailable = async () =>
          (await call(brief.url, shortly, 'get_document', DOCUMENT)).status === 503;
        await until('the request is refused', 5_000, isUnavailable);
      }
    });
  } finally {
    await world.optimism.start();
  }
  await that('when the chain is back the same refresh token is good', async () => {
    const answer = await refresh(tokens);
    assert.equal(answer.status, 200, answer.text);
    await reads(url, answer.tokens);
    await reads(brief.url, shortly);
  });
  await that('when the chain is back the same signed messages are good', async () => {
    for (const [page, message, signature] of [byKey, byContract]) {
      const answer = await verify(page, message, signature);
      assert.equal(answer.status, 200, answer.text);
      await redeem(page, answer);
    }
  });
  await that('a chain of hats that hangs is down', () => whilePaused(world.optimism, async () => {
    const answer = await refresh(again);
    assert.equal(answer.status, 503, answer.text);
  }));
  await that('while the chain of names is down people sign in without a name', async () => {
    await world.mainnet.stop();
    try {
      await signIn({ url, account: first });
    } finally {
      await world.mainnet.start();
    }
  });
  await that('a chain of names that hangs keeps nobody from signing in', () => whilePaused(world.mainnet, async () => {
    await signIn({ url, account: second });
  }));
  await that('an address that leads to another chain gives nobody a role', async () => {
    const { verified } = await attempt({ url: astray.url, account: person });
    assert.equal(verified.status, 503, verified.text);
  });
}

// An answer of a chain may take five seconds.
async function whilePaused(chain, work) {
  chain.pause();
  const started = Date.now();
  try {
    await work();
  } finally {
    chain.resume();
  }
  assert.ok(Date.now() - started < 8_000, `it took ${Date.now() - started} ms`);
}

async function contract(world, owner) {
  return signerOf(owner, await world.wallet1271(owner.address));
}

async function signed(url, signer) {
  const page = await visit(url);
  const message = await messageFor(page, signer.address);
  return [page, message, await signer.sign(message)];
}
