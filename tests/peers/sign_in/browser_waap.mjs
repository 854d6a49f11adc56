// The wallet of WaaP: a script and a frame from another origin, which the operator has let in.
//
// Ours stands in for theirs, which may not be passed on and needs their site. It has the same surface: initWaaP() sets
// window.waap, login() tells how the person signed in, or null, and the rest is EIP-1193.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { backAsMember, nothingAllowed, said, startSite, visit } from './browser_scene.mjs';
import { fails, ownWallet, stubborn } from './browser_wallet.mjs';

/* Runs in the page. Like theirs it opens a frame, and asks nothing of it before somebody has logged in. */
function script(origin) {
  let isLoggedIn = false;
  const ask = async (method, params) => {
    const answer = await window.askTestWallet('waap', method, params);
    if ('thrown' in answer) throw answer.thrown;
    return answer.given;
  };
  window.initWaaP = () => {
    const frame = document.createElement('iframe');
    Object.assign(frame, { id: 'waap-wallet-iframe', title: 'WaaP', src: `${origin}/iframe` });
    frame.style.display = 'none';
    document.body.append(frame);
    window.waap = {
      async login() {
        const method = await ask('login', []);
        isLoggedIn = method !== null;
        return method;
      },
      async request({ method, params = [] }) {
        if (!isLoggedIn) throw Object.assign(new Error('log in first'), { code: 4100 });
        return ask(method, params);
      },
      on() {},
      removeListener() {},
    };
    return window.waap;
  };
}

// The other origin. It answers `/slow.js` never.
async function startOrigin() {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push(request.url);
    if (request.url === '/slow.js') return;
    const isScript = request.url === '/waap.js';
    const type = isScript ? 'text/javascript' : 'text/html';
    response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' });
    response.end(isScript ? text : '<!doctype html><html lang="en"><title>WaaP</title>');
  });
  await new Promise((done, failed) => server.listen(0, '127.0.0.1', done).once('error', failed));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const text = `(${script})(${JSON.stringify(origin)});`;
  const digest = `sha384-${createHash('sha384').update(text).digest('base64')}`;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, digest, seen, stop };
}

export async function waap(scene) {
  const account = scene.world.accounts[9];
  await scene.world.hat(account.address, '30.3.5');
  const other = await startOrigin();
  try {
    await signsIn(scene, other, account);
    await isBeside(scene, other, account);
    await isForeign(scene, other, account);
    await isLate(scene, other, account);
  } finally {
    other.stop();
  }
}

// A visit to a server of its own that has these lines for WaaP.
async function onSite(scene, name, lines, options, act) {
  const more = `\n[auth.waap]\n${lines.join('\n')}\n`;
  const site = await startSite(scene, join(scene.folder, name), more);
  try {
    // A header of ours would have the browser ask the other origin first whether it may come.
    await visit({ ...scene, ...site }, { extraHTTPHeaders: {}, ...options }, act);
  } finally {
    await site.stop();
  }
}

// Offered beside the others; whoever closes the window of the login can try again.
async function signsIn(scene, { origin, digest, seen }, account) {
  const usual = ownWallet(account);
  usual.answers.login = () => 'waap';
  const away = fails({ code: -32000, message: 'The wallet is away.' });
  const wallet = stubborn(usual, { login: () => null, personal_sign: away });
  const wallets = { waap: wallet, announced: [{ name: 'Foxglove', wallet: usual }] };
  const lines = [`script_url = "${origin}/waap.js"`, `integrity = "${digest}"`, `frame_origin = "${origin}"`];
  await onSite(scene, 'waap', lines, { wallets }, async (here) => {
    const button = here.page.getByRole('button', { name: /WaaP/ });
    await here.page.getByRole('button', { name: /Foxglove/ }).waitFor();
    await button.click();
    await said(here.page, /declined/);
    await button.click();
    await said(here.page, /is away/);
    await nothingAllowed(here);
    await button.click();
    await backAsMember(here);
    assert.deepEqual(seen, ['/waap.js', '/iframe']);
  });
}

// It takes no place from a wallet that does not announce itself.
async function isBeside(scene, { origin, digest }, account) {
  const wallets = { waap: ownWallet(account), ethereum: ownWallet(account) };
  const lines = [`script_url = "${origin}/waap.js"`, `integrity = "${digest}"`, `frame_origin = "${origin}"`];
  await onSite(scene, 'beside', lines, { wallets }, async ({ page }) => {
    await page.getByRole('button', { name: /WaaP/ }).waitFor();
    await page.getByRole('button', { name: /wallet of this browser/ }).waitFor();
  });
}

// Another script than the operator has seen is not run, and a frame from elsewhere is not shown.
async function isForeign(scene, { origin, digest, seen }, account) {
  const wallets = { waap: ownWallet(account), announced: [{ name: 'Foxglove', wallet: ownWallet(account) }] };
  const wrong = `sha384-${createHash('sha384').update('another').digest('base64')}`;
  const lines = [`script_url = "${origin}/waap.js"`, `integrity = "${wrong}"`];
  await onSite(scene, 'foreign', lines, { wallets, expected: /valid digest/ }, async (here) => {
    await said(here.page, /WaaP could not be loaded/);
    assert.equal(await here.page.getByRole('button', { name: /WaaP/ }).count(), 0);
    await here.page.getByRole('button', { name: /Foxglove/ }).click();
    await backAsMember(here);
  });
  seen.length = 0;
  const elsewhere = [`script_url = "${origin}/waap.js"`, `integrity = "${digest}"`];
  await onSite(scene, 'elsewhere', elsewhere, { wallets, expected: /frame-src/ }, async (here) => {
    await here.page.getByRole('button', { name: /WaaP/ }).waitFor();
    assert.deepEqual(seen, ['/waap.js']);
  });
}

// Who does not answer keeps nobody from signing in otherwise.
async function isLate(scene, { origin, digest }, account) {
  const wallets = { announced: [{ name: 'Foxglove', wallet: ownWallet(account) }] };
  const lines = [`script_url = "${origin}/slow.js"`, `integrity = "${digest}"`];
  await onSite(scene, 'late', lines, { wallets }, async (here) => {
    await here.page.getByRole('button', { name: /Foxglove/ }).click();
    await backAsMember(here);
  });
}
