// Wallets for a page: what they answer is decided here, and a small provider in the page passes it on.

import { hexToString } from 'viem';

export const DECLINED = { code: 4001, message: 'User rejected the request.' };

// A wallet that signs with `sign(hex)`. Wallets write addresses in small letters more often than not.
export function wallet(address, sign, chain = 10) {
  const signed = [];
  const answers = {
    eth_requestAccounts: () => [address.toLowerCase()],
    eth_chainId: () => `0x${chain.toString(16)}`,
    personal_sign: async ([hex]) => {
      signed.push(hexToString(hex));
      return sign(hex);
    },
  };
  return { answers, signed };
}

// The wallet of one person's own key.
export const ownWallet = (account) => wallet(account.address, (raw) => account.signMessage({ message: { raw } }));

// The same wallet, but the answers that are given here come first; each is used once.
export function stubborn(usual, first) {
  const left = { ...first };
  const once = (method) => (params) => {
    const answer = left[method];
    delete left[method];
    return answer ? answer(params) : usual.answers[method](params);
  };
  const answers = Object.fromEntries(Object.keys(usual.answers).map((method) => [method, once(method)]));
  return { ...usual, answers };
}

// An answer that is an error, as a provider throws it.
export const fails = (error) => () => ({ thrown: error });

// Puts wallets into every page of a context: `announced` by EIP-6963, one at window.ethereum, and one that the script
// of WaaP asks.
export async function giveWallets(context, { announced = [], ethereum, waap }) {
  const wallets = { ...announced.map((one) => one.wallet), ethereum, waap };
  await context.exposeFunction('askTestWallet', async (which, method, params) => {
    const answer = wallets[which].answers[method];
    if (!answer) return { thrown: { code: 4200, message: `The wallet does not know ${method}.` } };
    const given = await answer(params);
    return given?.thrown === undefined ? { given } : given;
  });
  const uuid = () => crypto.randomUUID();
  const infos = announced.map(({ name, icon }, at) => ({ uuid: uuid(), name, icon, rdns: `org.example.w${at}` }));
  await context.addInitScript(inPage, { infos, hasEthereum: ethereum !== undefined });
}

/* Runs in the page, before its own scripts. */
function inPage({ infos, hasEthereum }) {
  const provider = (which) => ({
    async request({ method, params = [] }) {
      const answer = await window.askTestWallet(which, method, params);
      if ('thrown' in answer) throw answer.thrown;
      return answer.given;
    },
    on() {},
    removeListener() {},
  });
  const details = infos.map((info, at) => Object.freeze({ info, provider: provider(at) }));
  const announce = () => {
    for (const detail of details) dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  addEventListener('eip6963:requestProvider', announce);
  announce();
  if (hasEthereum) window.ethereum = provider('ethereum');
}
