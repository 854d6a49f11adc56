// Wallets announce themselves (EIP-6963) or sit at window.ethereum. The server writes what is signed.
const place = document.getElementById('wallets');
const none = document.getElementById('none');
const message = document.getElementById('message');
const { state, chains } = place.dataset;
const known = new Set();

function say(text) {
  message.textContent = text;
}

async function ask(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ stateId: state, ...body }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? 'The server did not answer.');
  return answer;
}

async function signIn(wallet) {
  const [address] = await wallet.request({ method: 'eth_requestAccounts' });
  if (!address) throw new Error('The wallet gave no account.');
  const chain = Number(await wallet.request({ method: 'eth_chainId' }));
  const allowed = chains.split(' ').map(Number);
  const chainId = allowed.includes(chain) ? chain : allowed[0];
  const { message: text } = await ask('/siwe/nonce', { address, chainId });
  const hex = '0x' + Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const signature = await wallet.request({ method: 'personal_sign', params: [hex, address] });
  const { redirectTo } = await ask('/siwe/verify', { message: text, signature });
  say('');
  location.assign(redirectTo);
}

function offer(wallet, name, icon) {
  if (known.has(wallet)) return;
  known.add(wallet);
  none.hidden = true;
  const button = document.createElement('button');
  if (icon?.startsWith('data:image/')) {
    const image = document.createElement('img');
    image.src = icon;
    image.alt = '';
    button.append(image);
  }
  button.append(`Sign in with ${name} and allow`);
  button.addEventListener('click', async () => {
    say('');
    button.disabled = true;
    try {
      await signIn(wallet);
    } catch (error) {
      say(error?.code === 4001 ? 'You declined in the wallet. Nothing was allowed.' : String(error?.message ?? error));
    } finally {
      button.disabled = false;
    }
  });
  place.append(button);
}

addEventListener('eip6963:announceProvider', ({ detail }) => offer(detail.provider, detail.info.name, detail.info.icon));
dispatchEvent(new Event('eip6963:requestProvider'));
setTimeout(() => {
  if (known.size === 0 && window.ethereum) offer(window.ethereum, 'the wallet of this browser');
  if (known.size === 0) none.textContent = 'There is no wallet in this browser. Install one, or use a browser that has one.';
}, 400);
