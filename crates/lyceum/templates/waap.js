// Brings in the script of WaaP that the operator chose, and announces its wallet as others announce themselves. A script
// that does not come keeps nothing else waiting.
const { waap: address, integrity, settings } = document.getElementById('wallets').dataset;
const script = document.createElement('script');

function missing() {
  document.getElementById('message').textContent = 'WaaP could not be loaded. Other ways to sign in work.';
}

// It has a sign-in of its own, which comes before everything else.
async function request(asked) {
  if (asked.method === 'eth_requestAccounts' && (await window.waap.login()) === null) throw { code: 4001 };
  return window.waap.request(asked);
}

script.crossOrigin = 'anonymous';
script.integrity = integrity;
script.src = address;
script.addEventListener('error', missing);
script.addEventListener('load', () => {
  if (!window.waap) window.initWaaP?.(JSON.parse(settings));
  if (!window.waap) return missing();
  const detail = { info: { name: 'WaaP', rdns: 'xyz.waap' }, provider: { request } };
  dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
});
document.head.append(script);
