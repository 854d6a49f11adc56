// The TypeScript clients: a stranger is refused, the same program signs in, and its access token is renewed.
//
//     SIGN_IN_KEY=… node client.mjs PACKAGE MODE URL CALL
//
// PACKAGE is `client` (@modelcontextprotocol/client) or `sdk` (@modelcontextprotocol/sdk, the older one), MODE `auto` or
// `legacy`, CALL the params of tools/call. Prints one line of JSON with what happened.

import { randomUUID } from 'node:crypto';
import { keyOfThePerson, signIn } from './browser.mjs';

const REDIRECT = 'http://127.0.0.1:9/callback';

const [name, mode, url, callText] = process.argv.slice(2);
const call = JSON.parse(callText);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await load(name);

async function load(name) {
  if (name === 'client') return import('@modelcontextprotocol/client');
  const parts = ['index', 'streamableHttp', 'auth'];
  const modules = parts.map((part) => import(`@modelcontextprotocol/sdk/client/${part}.js`));
  return Object.assign({}, ...(await Promise.all(modules)));
}

// Keeps what a program keeps, and sends the person to the page.
class Provider {
  key = keyOfThePerson();
  signIns = 0;
  get redirectUrl() { return REDIRECT; }
  get clientMetadata() {
    return { client_name: `peer ${name}`, redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };
  }
  state() { return (this.expected = randomUUID()); }
  clientInformation() { return this.information; }
  saveClientInformation(information) { this.information = information; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  saveDiscoveryState(state) { this.discovered = state; }
  discoveryState() { return this.discovered; }
  async redirectToAuthorization(address) {
    this.signIns += 1;
    this.callback = (await signIn(address, this.key)).place.searchParams;
    if (this.callback.get('state') !== this.expected) throw new Error('the state is not what was sent');
  }
}

async function connect(authProvider) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new Client({ name: 'peer', version: '0.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return { client, transport };
}

async function listed(client) {
  return (await client.listTools()).tools.map((tool) => tool.name);
}

async function stranger() {
  const { client } = await connect();
  const tools = await listed(client);
  const refused = await client.callTool(call).then(() => false, (error) => error.message);
  await client.close();
  return { tools, refused };
}

async function member() {
  const provider = new Provider();
  const first = await connect(provider);
  const refused = await first.client.callTool(call).then(() => undefined, (error) => error);
  if (!(refused instanceof UnauthorizedError)) throw refused ?? new Error('it was answered before the sign-in');
  const { callback } = provider;
  await (name === 'client' ? first.transport.finishAuth(callback) : first.transport.finishAuth(callback.get('code')));
  await first.client.close();

  const { client } = await connect(provider);
  const answer = await client.callTool(call);
  const tools = await listed(client);
  // As if the hour of the access token were over.
  const before = provider.kept;
  provider.kept = { ...before, access_token: 'lyc_at_over' };
  const again = await client.callTool(call);
  const { kept, signIns, information } = provider;
  const isRenewed = kept.access_token !== 'lyc_at_over' && kept.refresh_token !== before.refresh_token;
  const protocol = client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion;
  await client.close();
  return { protocol, tools, answers: [answer, again], signIns, isRenewed, client: information.client_id };
}

console.log(JSON.stringify({ stranger: await stranger(), member: await member() }));
