// A person with a wallet and a program that asks for tokens, both over plain HTTP: sign-in without a browser.
import { createHash, randomBytes } from 'node:crypto';

const CALLBACK = 'http://127.0.0.1:4000/callback';
const EVERYTHING = 'mcp:read knowledge:read sources:refresh skills:run';
const LIMIT = 30_000;

// What no log may show: filled as the test goes.
export const secrets = new Set();

// The server counts requests by address and believes a proxy on its own machine: each person has an address.
let people = 0;
function nextAddress() {
  people += 1;
  return `10.1.${people >> 8}.${people & 255}`;
}

// Asks the server; an answer is its status, its headers, and its body as text and, where it is that, as JSON.
export async function ask(url, { method = 'POST', headers = {}, json, form } = {}) {
  const body = json ? JSON.stringify(json) : form ? new URLSearchParams(form) : undefined;
  const kind = json ? { 'content-type': 'application/json' } : {};
  const signal = AbortSignal.timeout(LIMIT);
  const answer = await fetch(url, { method, headers: { ...kind, ...headers }, body, redirect: 'manual', signal });
  const text = await answer.text();
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: answer.status, headers: answer.headers, text, json: parsed };
}

// Registers a program and opens the page that asks the person.
export async function visit(url, scope = EVERYTHING) {
  const headers = { 'x-forwarded-for': nextAddress() };
  const said = { client_name: 'Test program', redirect_uris: [CALLBACK] };
  const registered = must(await ask(`${url}/register`, { headers, json: said }), 201);
  const verifier = secret(randomBytes(32).toString('base64url'));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: registered.json.client_id,
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope,
    resource: `${url}/mcp`,
    state: 'made up',
  });
  const page = must(await ask(`${url}/authorize?${query}`, { method: 'GET', headers }), 200);
  const stateId = page.text.match(/name="stateId" value="([^"]+)"/)[1];
  const cookie = page.headers.get('set-cookie').split(';')[0];
  secret(cookie.split('=')[1]);
  return { url, client: query.get('client_id'), verifier, stateId, headers: { ...headers, cookie } };
}

// The message that the server writes for an account.
export async function messageFor({ url, stateId, headers }, address, chainId = 10) {
  const answer = await ask(`${url}/siwe/nonce`, { headers, json: { stateId, address, chainId } });
  return must(answer, 200).json.message;
}

// Sends what was signed.
export async function verify({ url, stateId, headers }, message, signature) {
  secret(signature);
  return ask(`${url}/siwe/verify`, { headers, json: { stateId, message, signature } });
}

// Exchanges the code of an answer to `verify` for tokens.
export async function redeem(visit, verified) {
  const code = secret(new URL(must(verified, 200).json.redirectTo).searchParams.get('code'));
  const form = { grant_type: 'authorization_code', code, code_verifier: visit.verifier, redirect_uri: CALLBACK };
  return tokens(visit, must(await token(visit, form), 200));
}

// Asks for new tokens; the answer as it came.
export async function refresh({ visit, refresh_token }) {
  const answer = await token(visit, { grant_type: 'refresh_token', refresh_token });
  return answer.status === 200 ? { ...answer, tokens: tokens(visit, answer) } : answer;
}

// The whole way, with an account of viem or with a signer: `{ address, sign(message) }`.
export async function signIn({ url, account, signer = signerOf(account), chainId, scope }) {
  const { page, verified } = await attempt({ url, signer, chainId, scope });
  return redeem(page, verified);
}

// The way up to `verify`; its answer as it came.
export async function attempt({ url, account, signer = signerOf(account), chainId, scope }) {
  const page = await visit(url, scope);
  const message = await messageFor(page, signer.address, chainId);
  return { page, verified: await verify(page, message, await signer.sign(message)) };
}

// An account of viem that signs for itself, or for a contract.
export function signerOf(account, address = account.address) {
  return { address, sign: (message) => account.signMessage({ message }) };
}

function token({ url, client, headers }, form) {
  return ask(`${url}/token`, { headers, form: { client_id: client, ...form } });
}

function tokens(visit, { json }) {
  return { visit, ...json, access_token: secret(json.access_token), refresh_token: secret(json.refresh_token) };
}

function secret(text) {
  secrets.add(text);
  return text;
}

function must(answer, status) {
  if (answer.status === status) return answer;
  throw new Error(`expected ${status}, got ${answer.status}: ${answer.text.slice(0, 400)}`);
}
