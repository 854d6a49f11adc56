// The sign-in page in a real browser, before real chains.
//
//     LYCEUM=… FOLDER=… node browser.mjs
//
// LYCEUM is the program, FOLDER an empty folder, CHROMIUM the browser where it is not on the PATH; SHOTS is a folder
// for pictures of the pages. All checks run, also after one that failed; the last line says what was seen.
import { performance } from 'node:perf_hooks';
import { inspect } from 'node:util';

import * as flows from './browser_flows.mjs';
import { looks } from './browser_look.mjs';
import * as names from './browser_names.mjs';
import { startScene } from './browser_scene.mjs';
import * as trouble from './browser_trouble.mjs';
import { waap } from './browser_waap.mjs';

// For one check; the whole must end as well where a browser hangs.
const LIMIT = 60_000;

const CHECKS = {
  'a wallet that announces itself, by keyboard alone': flows.byKeyboard,
  'the wallet at window.ethereum': flows.byEthereum,
  'a wallet that is a contract': flows.byContract,
  'a Safe of two owners': flows.bySafe,
  'a wallet that refuses': flows.refusing,
  'a wallet that keeps to nothing': flows.odd,
  'a signature of somebody else': flows.forged,
  'a key': flows.byKey,
  'without JavaScript': flows.withoutScript,
  'a no': flows.denied,
  'a server that is away': trouble.noServer,
  'without cookies': trouble.noCookies,
  'two tabs': trouble.twoTabs,
  'done twice': trouble.twice,
  'names of wallets': names.ofWallets,
  'announcements that are none': names.ofNoWallet,
  'names of clients': names.ofClients,
  'the wallet of WaaP': waap,
  'light, dark, wide and narrow': looks,
};

for (const name of ['LYCEUM', 'FOLDER']) {
  if (!process.env[name]) throw new Error(`${name} is not set; run this by cargo xtask peers`);
}
const failed = [];
const begun = performance.now();
const scene = await startScene(process.env.FOLDER);
try {
  for (const [name, check] of Object.entries(CHECKS)) {
    const started = performance.now();
    const outcome = await within(LIMIT, check(scene)).then(() => 'ok', (error) => error);
    const took = Math.round(performance.now() - started);
    if (outcome === 'ok') {
      console.log(`ok ${name} (${took} ms)`);
    } else {
      console.log(`FAILED ${name} (${took} ms): ${inspect(outcome)}`);
      failed.push(name);
    }
  }
} finally {
  await scene.stop();
}
if (failed.length > 0) {
  console.error(`${failed.length} of ${Object.keys(CHECKS).length} failed: ${failed.join('; ')}`);
  process.exit(1);
}
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
const figures = `${Object.keys(CHECKS).length} checks, ${scene.visits.count} visits to the page in ${seconds} s`;
console.log(`${figures}; no complaint of the browser, none of axe`);

async function within(limit, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${limit} ms`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
