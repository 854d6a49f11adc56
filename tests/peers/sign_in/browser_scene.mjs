// Where the sign-in page is seen: a server, the chains behind it, a browser, and what holds for every visit.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import { chromium } from 'playwright-core';

import { call, startClient } from './browser_client.mjs';
import { giveWallets } from './browser_wallet.mjs';
import { until } from './process.mjs';
import { DOCUMENT, startLyceum } from './server.mjs';
import { startWorld } from './world.mjs';

// For whatever a person would wait for.
export const LIMIT = 10_000;

// Starts everything.
export async function startScene(folder) {
  const ends = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const [world, browser] = await Promise.all([
      startWorld(folder).then((world) => (ends.push(world.stop), world)),
      startBrowser().then((browser) => (ends.push(() => browser.close()), browser)),
    ]);
    const key = execFileSync(process.env.LYCEUM, ['key'], { encoding: 'utf8', timeout: LIMIT, stdio: 'pipe' }).trim();
    const site = await startSite({ world, key }, folder);
    ends.push(site.stop);
    return { ...site, world, browser, key, folder, visits: { count: 0 }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// A server and a client of it. `more` are further lines of its configuration.
export async function startSite({ world, key }, folder, more = '') {
  const env = { KEY: key, MAINNET_RPC_URL: world.mainnet.url, OPTIMISM_RPC_URL: world.optimism.url };
  const server = await startLyceum({ folder, config: CONFIG + more, env });
  try {
    const client = await startClient(server.url);
    return { issuer: server.url, client, stop: () => (client.stop(), server.stop()) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const CONFIG = `
[auth]
mode = "oauth"

[auth.hats]
tiers = { "30.3.5" = "member" }

[[auth.api_key]]
name = "browser"
tier = "member"
key_env = "KEY"
`;

async function startBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = process.env.PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const executablePath = process.env.CHROMIUM ?? places.find(isProgram);
  if (!executablePath) throw new Error('Chromium is missing; install it, for example: sudo apt-get install chromium');
  return chromium.launch({ executablePath, timeout: 30_000 });
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// One person's visit to the page, in a browser of their own. The browser complains of nothing but of answers with the
// statuses of `refusals`, and of what `expected` fits, which must come.
export async function visit(scene, options, act) {
  const { client = scene.client, url, wallets = {}, refusals = [], expected, ...rest } = options;
  // Each comes from an address of their own, as from behind a proxy: one address alone would be slowed down.
  scene.visits.count += 1;
  const extraHTTPHeaders = { 'X-Forwarded-For': `10.0.0.${scene.visits.count}` };
  const context = await scene.browser.newContext({ extraHTTPHeaders, ...rest });
  try {
    context.setDefaultTimeout(LIMIT);
    const complaints = await listen(context);
    await giveWallets(context, wallets);
    const page = await context.newPage();
    const asked = client.ask();
    await page.goto(url ?? asked.url, { waitUntil: 'domcontentloaded' });
    await act({ scene, page, client, asked }).catch((cause) => withView(page, complaints, cause));
    const isExpected = ({ text }) => expected?.test(text);
    if (expected) await until(`the browser complains of ${expected}`, LIMIT, () => complaints.some(isExpected));
    const said = complaints.filter((one) => !one.status && !isExpected(one)).map(({ text }) => text);
    assert.deepEqual(said, [], 'the browser complained');
    const statuses = complaints.filter(({ status }) => status).map(({ status }) => status);
    assert.deepEqual(statuses, refusals, 'other answers were refused than expected');
  } finally {
    await context.close();
  }
}

// What went wrong, and what was to be seen then.
async function withView(page, complaints, cause) {
  const view = await page.locator('body').innerText({ timeout: 1000 }).catch(() => 'nothing');
  const heard = JSON.stringify(complaints);
  throw new Error(`at ${page.url().split('?')[0]}\nthe browser said: ${heard}\nthe page shows: ${view}`, { cause });
}

// What the console says, what goes wrong in scripts, and what the policy of the page forbids.
async function listen(context) {
  const complaints = [];
  const hear = (text) => complaints.push({ text, status: Number(/with a status of (\d+)/.exec(text)?.[1] ?? 0) });
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) hear(message.text());
  });
  context.on('weberror', (error) => hear(`script: ${error.error().message}`));
  await context.exposeFunction('tellOfViolation', (text) => hear(`policy: ${text}`));
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      window.tellOfViolation(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return complaints;
}

// Waits until the person is back at the client, and checks what they bring along.
export async function back({ scene, page, client, asked }) {
  await page.waitForURL((url) => url.href.startsWith(client.redirect));
  const brought = client.arrivals.at(-1);
  assert.equal(brought.get('state'), asked.state);
  assert.equal(brought.get('iss'), scene.issuer);
  return brought;
}

// The same, and the code is good for what only members may.
export async function backAsMember(here) {
  const { scene, client, asked } = here;
  const brought = await back(here);
  const tokens = await client.exchange(brought.get('code'), asked.verifier);
  assert.deepEqual(tokens.scope.split(' ').sort(), ['knowledge:read', 'mcp:read']);
  const answer = await call(scene.issuer, tokens.access_token, 'get_document', DOCUMENT);
  assert.ok(!answer.isError && answer.structuredContent.title === 'Rotation of roles', JSON.stringify(answer));
}

// Waits for what the page says to the person.
export async function said(page, expected) {
  const alert = page.getByRole('alert').filter({ hasText: expected });
  await alert.waitFor({ state: 'visible' });
}

// Nobody has gone back to the client, so nothing can have been allowed.
export async function nothingAllowed({ scene, page, client, asked }) {
  assert.ok(page.url().startsWith(`${scene.issuer}/authorize`), page.url());
  assert.ok(!client.arrivals.some((brought) => brought.get('state') === asked.state));
}
