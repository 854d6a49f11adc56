// What people do on the page, with each kind of wallet, with a key, and when they say no.
import assert from 'node:assert/strict';

import { startClient } from './browser_client.mjs';
import { LIMIT, back, backAsMember, nothingAllowed, said, visit } from './browser_scene.mjs';
import { DECLINED, fails, ownWallet, stubborn, wallet } from './browser_wallet.mjs';
import { until } from './process.mjs';

const button = (page, name) => page.getByRole('button', { name });

async function member(scene, at) {
  const account = scene.world.accounts[at];
  await scene.world.hat(account.address, '30.3.5');
  return account;
}

// Presses Tab until something is in focus that is called so.
async function tabTo(page, name) {
  const target = button(page, name);
  await target.waitFor();
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

// Without a mouse, and with a second thought: whoever declined can press Enter again where they are.
export async function byKeyboard(scene) {
  const own = ownWallet(await member(scene, 0));
  const hesitant = stubborn(own, { personal_sign: fails(DECLINED) });
  await visit(scene, { wallets: { announced: [{ name: 'Foxglove', wallet: hesitant }] } }, async (here) => {
    await tabTo(here.page, /Foxglove/);
    await here.page.keyboard.press('Enter');
    await said(here.page, /declined/);
    await here.page.keyboard.press('Enter');
    await backAsMember(here);
    const [message] = own.signed;
    assert.ok(message.startsWith(`${new URL(scene.issuer).host} wants you to sign in`), message);
    assert.ok(message.includes('Test client') && message.includes('knowledge:read'), message);
  });
}

// Where no wallet announces itself, the one at window.ethereum is offered; where one does, only that.
export async function byEthereum(scene) {
  const own = ownWallet(await member(scene, 1));
  await visit(scene, { wallets: { ethereum: own } }, async (here) => {
    await button(here.page, /wallet of this browser/).click();
    await backAsMember(here);
  });
}

export async function byContract(scene) {
  const owner = scene.world.accounts[2];
  const address = await scene.world.wallet1271(owner.address);
  await scene.world.hat(address, '30.3.5');
  const contract = wallet(address, (raw) => owner.signMessage({ message: { raw } }));
  await visit(scene, { wallets: { announced: [{ name: 'Contract', wallet: contract }] } }, async (here) => {
    await button(here.page, /Contract/).click();
    await backAsMember(here);
  });
}

// A Safe of two owners: the signature of one is refused, those of both are taken.
export async function bySafe(scene) {
  const owners = scene.world.accounts.slice(3, 5);
  const safe = await scene.world.safe(owners.map((owner) => owner.address), 2);
  await scene.world.hat(safe.address, '30.3.5');
  const both = wallet(safe.address, (raw) => safe.sign(owners, { raw }));
  const first = stubborn(both, { personal_sign: ([raw]) => safe.sign(owners.slice(0, 1), { raw }) });
  const options = { wallets: { announced: [{ name: 'Safe', wallet: first }] }, refusals: [401] };
  await visit(scene, options, async (here) => {
    await button(here.page, /Safe/).click();
    await said(here.page, /signature/);
    await nothingAllowed(here);
    await button(here.page, /Safe/).click();
    await backAsMember(here);
  });
}

// What a wallet answers instead of what it is asked for, and what the person is told.
const REFUSALS = [
  ['declines to sign', { personal_sign: fails(DECLINED) }, /declined in the wallet.*Nothing was allowed/],
  ['declines to connect', { eth_requestAccounts: fails(DECLINED) }, /declined in the wallet/],
  ['has no account', { eth_requestAccounts: () => [] }, /no account/],
  ['fails with words', { personal_sign: fails({ code: -32603, message: 'It is locked.' }) }, /It is locked/],
];

// A wallet may refuse again and again, and the person may try again each time.
export async function refusing(scene) {
  const account = await member(scene, 5);
  const wallets = REFUSALS.map(([name, first]) => ({ name, wallet: stubborn(ownWallet(account), first) }));
  await visit(scene, { wallets: { announced: wallets } }, async (here) => {
    for (const [name, , words] of REFUSALS) {
      await button(here.page, name).click();
      await said(here.page, words);
      await nothingAllowed(here);
    }
    await button(here.page, REFUSALS[0][0]).click();
    await backAsMember(here);
  });
}

// Wallets that keep to nothing: the person is told something readable.
const ODDITIES = [
  ['nothing for accounts', { eth_requestAccounts: () => null }],
  ['an error without words', { personal_sign: fails({ code: -32603 }) }],
  ['text for an error', { personal_sign: fails('It broke.') }],
  ['no signature', { personal_sign: () => null }],
];

export async function odd(scene) {
  const wallets = ODDITIES.map(([name, first]) => ({
    name,
    wallet: stubborn(ownWallet(scene.world.accounts[6]), first),
  }));
  await visit(scene, { wallets: { announced: wallets } }, async (here) => {
    for (const [name] of ODDITIES) {
      await button(here.page, name).click();
      await said(here.page, /\w/);
      const words = await here.page.getByRole('alert').innerText();
      assert.doesNotMatch(words, /object|undefined|null|iterable|JSON|missing field|invalid type/i, name);
      await nothingAllowed(here);
    }
  });
}

// Somebody else's signature does not count.
export async function forged(scene) {
  const [mine, theirs] = [scene.world.accounts[6], await member(scene, 7)];
  const forger = wallet(theirs.address, (raw) => mine.signMessage({ message: { raw } }));
  const options = { wallets: { announced: [{ name: 'Forger', wallet: forger }] }, refusals: [401] };
  await visit(scene, options, async (here) => {
    await button(here.page, /Forger/).click();
    await said(here.page, /signature/);
    await nothingAllowed(here);
  });
}

// A wrong key is told so, the right one signs in.
export async function byKey(scene, options = {}) {
  await visit(scene, { ...options, refusals: [401] }, async (here) => {
    const field = here.page.getByLabel(/Key/);
    // Without a wallet there is nothing else to begin with.
    const isFocused = () => field.evaluate((element) => element === document.activeElement);
    if (options.javaScriptEnabled !== false) await until('the key has the focus', LIMIT, isFocused);
    await field.fill('lyc_key_of_nobody');
    await field.press('Enter');
    await said(here.page, /key/);
    await nothingAllowed(here);
    await field.fill(scene.key);
    await button(here.page, 'Sign in and allow').click();
    await backAsMember(here);
  });
}

// Without JavaScript there is the key alone, and the page says why.
export async function withoutScript(scene) {
  await visit(scene, { javaScriptEnabled: false }, async ({ page }) => {
    await page.getByText(/needs JavaScript/).waitFor();
    const looks = await page.getByText(/Looking for wallets/).isVisible();
    assert.equal(looks, false, 'it looks for wallets without a script');
  });
  await byKey(scene, { javaScriptEnabled: false });
}

// The client hears of a no, wherever on this machine it listens.
export async function denied(scene) {
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const client = await startClient(scene.issuer, { host });
    try {
      await visit(scene, { client }, async (here) => {
        await button(here.page, 'Do not allow').click();
        const brought = await back(here);
        assert.equal(brought.get('error'), 'access_denied');
        assert.equal(brought.get('code'), null);
      });
    } finally {
      client.stop();
    }
  }
}
