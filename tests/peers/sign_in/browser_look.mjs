// How the pages look, and whether everybody can use them: judged by axe, in light and dark, on a screen and on a phone.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { AxeBuilder } from '@axe-core/playwright';

import { fits } from './browser_names.mjs';
import { said, visit } from './browser_scene.mjs';
import { DECLINED, fails, ownWallet, stubborn } from './browser_wallet.mjs';

const WIDTHS = [1280, 360];
const SCHEMES = ['light', 'dark'];

// The smallest height of what is pressed (WCAG 2.2, 2.5.8).
const TARGET = 24;

export async function looks(scene) {
  for (const width of WIDTHS) {
    const options = { viewport: { width, height: 800 }, isMobile: width < 500, reducedMotion: 'reduce' };
    await asking(scene, options);
    await failing(scene, options);
  }
}

// The page that asks, as it comes, and with something to say.
async function asking(scene, options) {
  const account = scene.world.accounts[9];
  const announced = [
    { name: 'Foxglove', wallet: stubborn(ownWallet(account), { personal_sign: fails(DECLINED) }) },
    { name: 'A wallet with quite a long name', wallet: ownWallet(account) },
  ];
  await visit(scene, { ...options, wallets: { announced } }, async ({ page }) => {
    const foxglove = page.getByRole('button', { name: /Foxglove/ });
    await foxglove.waitFor();
    await decides(page);
    await judge(page, 'asking');
    await foxglove.click();
    await said(page, /declined/);
    await judge(page, 'message');
  });
}

// One button looks primary, and on a screen the yes and the no are seen without scrolling.
async function decides(page) {
  const buttons = await page.locator('button:visible').evaluateAll((all) =>
    all.map((one) => ({ ground: getComputedStyle(one).backgroundColor, end: one.getBoundingClientRect().bottom })),
  );
  const primary = buttons.filter(({ ground }) => ground !== 'rgba(0, 0, 0, 0)');
  assert.equal(primary.length, 1, JSON.stringify(buttons));
  const { width, height } = page.viewportSize();
  if (width > 1000) assert.ok(buttons.every(({ end }) => end <= height), JSON.stringify(buttons));
}

// The page that says why it can't go on.
async function failing(scene, options) {
  const url = `${scene.issuer}/authorize?client_id=nobody`;
  await visit(scene, { ...options, url, refusals: [400] }, async ({ page }) => {
    await said(page, /\w/);
    await judge(page, 'fault');
  });
}

async function judge(page, name) {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const what = `${name}-${colorScheme}-${page.viewportSize().width}`;
    await shoot(page, `${what}.png`);
    await judgePage(page, what);
  }
}

async function shoot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, name), fullPage: true });
}

async function judgePage(page, what) {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  const parts = (nodes) => nodes.map((node) => node.html).join(' ');
  const faults = violations.map(({ impact, id, nodes }) => `${impact} ${id}: ${parts(nodes)}`);
  assert.deepEqual(faults, [], what);
  assert.ok(await fits(page), `${what}: wider than the screen`);
  const targets = page.locator('button:visible, a:visible, input:visible');
  const heights = await targets.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  assert.ok(heights.every((height) => height >= TARGET), `${what}: heights ${heights}`);
}
