// Wallets announce themselves (EIP-6963) or sit at window.ethereum. The server writes what is signed.
const [place, way, none, message, status, key] = ['wallets', 'by-wallet', 'none', 'message', 'status', 'key'].map(
  (id) => document.getElementById(id),
);
const { state, chains } = place.dataset;
const known = new Set();
// Whether a wallet of this browser has announced itself. WaaP is none.
let isAnnounced = false;
let isBusy = false;

function say(text) {
  message.textContent = text;
  if (text) message.scrollIntoView({ block: 'nearest' });
}

async function ask(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ stateId: state, ...body }),
  }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (response?.ok && answer) return answer;
  throw new Error(answer?.error?.message ?? 'The server can’t be reached now. Try again in a moment.');
}

async function signIn(wallet) {
  const accounts = await wallet.request({ method: 'eth_requestAccounts' });
  const address = accounts?.[0];
  if (!address) throw new Error('The wallet gave no account.');
  const chain = Number(await wallet.request({ method: 'eth_chainId' }));
  const allowed = chains.split(' ').map(Number);
  const chainId = allowed.includes(chain) ? chain : allowed[0];
  const { message: text } = await ask('/siwe/nonce', { address, chainId });
  const hex = '0x' + Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const signature = await wallet.request({ method: 'personal_sign', params: [hex, address] });
  if (typeof signature !== 'string') throw new Error('The wallet gave no signature.');
  const { redirectTo } = await ask('/siwe/verify', { message: text, signature });
  return redirectTo;
}

// Wallets throw all kinds of things.
function told(error) {
  if (error?.code === 4001) return 'You declined in the wallet. Nothing was allowed.';
  const words = typeof error === 'string' ? error : error?.message;
  return typeof words === 'string' && words ? words : 'The wallet failed and did not say why.';
}

// A button that were disabled would lose the focus of whoever uses the keyboard; so a second press is not heard instead.
async function press(wallet, button) {
  if (isBusy) return;
  isBusy = true;
  say('');
  button.setAttribute('aria-disabled', 'true');
  status.textContent = 'Confirm in your wallet…';
  try {
    const redirectTo = await signIn(wallet);
    status.textContent = 'You are signed in and sent back. If nothing happens, you can close this page.';
    location.assign(redirectTo);
  } catch (error) {
    status.textContent = '';
    say(told(error));
    isBusy = false;
    button.removeAttribute('aria-disabled');
  }
}

function offer(wallet, name, icon) {
  if (typeof wallet?.request !== 'function' || typeof name !== 'string' || !name || known.has(wallet)) return;
  known.add(wallet);
  none.hidden = true;
  way.hidden = false;
  const button = document.createElement('button');
  if (typeof icon === 'string' && icon.startsWith('data:image/')) {
    const image = document.createElement('img');
    image.src = icon;
    image.alt = '';
    button.append(image);
  }
  const label = document.createElement('span');
  label.textContent = `Sign in with ${name} and allow`;
  button.append(label);
  button.addEventListener('click', () => press(wallet, button));
  place.append(button);
}

addEventListener('eip6963:announceProvider', ({ detail }) => {
  const { provider, info } = detail ?? {};
  isAnnounced ||= info?.rdns !== 'xyz.waap' && typeof provider?.request === 'function';
  offer(provider, info?.name, info?.icon);
});
dispatchEvent(new Event('eip6963:requestProvider'));
setTimeout(() => {
  if (!isAnnounced) offer(window.ethereum, 'the wallet of this browser');
  if (known.size > 0) return;
  none.hidden = false;
  // Unless the person has begun elsewhere.
  if (document.activeElement === document.body) key?.focus();
}, 400);
