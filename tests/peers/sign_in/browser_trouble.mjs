// What goes wrong around the page, or is done twice: the person is told in words, and can go on where that is possible.
import assert from 'node:assert/strict';

import { back, backAsMember, nothingAllowed, said, visit } from './browser_scene.mjs';
import { ownWallet } from './browser_wallet.mjs';

const foxglove = (page) => page.getByRole('button', { name: /Foxglove/ });

async function visitor(scene, options, act) {
  const account = scene.world.accounts[0];
  await visit(scene, { ...options, wallets: { announced: [{ name: 'Foxglove', wallet: ownWallet(account) }] } }, act);
}

// Whatever stands before the server answers for it, or nobody does.
export async function noServer(scene) {
  const options = { refusals: [502], expected: /ERR_FAILED/ };
  await visitor(scene, options, async (here) => {
    const { page } = here;
    await foxglove(page).waitFor();
    const answers = [
      (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
      (route) => route.abort(),
    ];
    for (const answer of answers) {
      await page.route('**/siwe/nonce', answer);
      await foxglove(page).click();
      await said(page, /server/i);
      await nothingAllowed(here);
      await page.unroute('**/siwe/nonce');
    }
    await foxglove(page).click();
    await back(here);
  });
}

// Without the cookie of the page nothing counts, and both ways to sign in say so.
export async function noCookies(scene) {
  await visitor(scene, { refusals: [403, 403] }, async (here) => {
    const { page } = here;
    await foxglove(page).waitFor();
    await page.context().clearCookies();
    await foxglove(page).click();
    await said(page, /cookies/);
    await page.getByLabel(/Key/).fill(scene.key);
    await page.getByLabel(/Key/).press('Enter');
    await page.getByRole('heading', { name: /can't go on/ }).waitFor();
    await said(page, /cookies/);
    await nothingAllowed(here);
  });
}

// Two programs ask in two tabs of one browser: each gets its own answer.
export async function twoTabs(scene) {
  await visitor(scene, {}, async (here) => {
    const second = { ...here, page: await here.page.context().newPage(), asked: here.client.ask() };
    await second.page.goto(second.asked.url);
    await foxglove(here.page).click();
    await backAsMember(here);
    await foxglove(second.page).click();
    await backAsMember(second);
  });
}

// Whoever goes back to the page can sign in once more, and two quick presses are one.
export async function twice(scene) {
  await visitor(scene, {}, async (here) => {
    const { page } = here;
    await foxglove(page).dblclick();
    const first = await back(here);
    await page.goBack();
    await foxglove(page).click();
    const isOther = () => here.client.arrivals.at(-1).get('code') !== first.get('code');
    await page.waitForURL((url) => url.pathname === '/callback');
    assert.ok(isOther(), 'the same code came twice');
  });
}
