// Names come from others: of wallets, and of the programs that ask. On the page they are text and nothing else.
import assert from 'node:assert/strict';

import { startClient } from './browser_client.mjs';
import { visit } from './browser_scene.mjs';
import { ownWallet } from './browser_wallet.mjs';

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

// Every wallet is a button of its own, once, however often it announces itself.
export async function ofWallets(scene) {
  const [one, two] = scene.world.accounts.slice(8).map(ownWallet);
  const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';
  const elsewhere = 'https://example.org/icon.png';
  const announced = [{ name: 'First', icon, wallet: one }, { name: MARKUP, icon: elsewhere, wallet: two }];
  await visit(scene, { wallets: { announced, ethereum: one } }, async ({ page }) => {
    await page.getByRole('button', { name: MARKUP }).waitFor();
    await page.evaluate(() => dispatchEvent(new Event('eip6963:requestProvider')));
    const names = await page.locator('#wallets button').allInnerTexts();
    assert.equal(names.length, 2, names.join('; '));
    assert.equal(await page.locator('#wallets img').count(), 1, 'a picture from elsewhere is not fetched');
    assert.match(await page.title(), /^Sign in/);
  });
}

// An announcement that is none does not keep the others from being heard.
export async function ofNoWallet(scene) {
  const announced = [{ name: 'Sound', wallet: ownWallet(scene.world.accounts[8]) }];
  await visit(scene, { wallets: { announced } }, async ({ page }) => {
    await page.getByRole('button', { name: /Sound/ }).waitFor();
    await page.evaluate(() => {
      const provider = { request() {} };
      const none = [null, {}, { info: {} }, { info: { name: 'No provider' } }, { provider }, { info: {}, provider }];
      for (const detail of none) {
        dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      }
    });
    assert.equal(await page.locator('#wallets button').count(), 1);
  });
}

// A client may call itself anything: it stays short, and reads in the order in which it was written.
export async function ofClients(scene) {
  const name = `\u202e\u2066${MARKUP}\u200b\u0007${'W'.repeat(10_000)}`;
  const client = await startClient(scene.issuer, { name });
  try {
    await visit(scene, { client, viewport: { width: 360, height: 740 } }, async ({ page }) => {
      const heading = await page.getByRole('heading', { level: 1 }).innerText();
      assert.ok(heading.includes('<img src=x'), heading);
      assert.ok(heading.length < 200, `${heading.length} letters`);
      assert.doesNotMatch(await page.locator('body').innerText(), /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\u0007]/);
      assert.equal(await page.locator('main img, main script').count(), 0);
      assert.match(await page.title(), /^Sign in/);
      assert.ok(await fits(page), 'the page is wider than the phone');
    });
  } finally {
    client.stop();
  }
}

// Whether nothing is wider than the screen. The page can't be asked: a phone makes a wide one small until it fits.
export async function fits(page) {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  return width <= page.viewportSize().width;
}
