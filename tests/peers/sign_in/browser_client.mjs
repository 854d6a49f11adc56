// A program that asks for access: it registers, sends the person to the page, and waits for them to come back.

import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const LIMIT = 10_000;

// Starts a client with a listener of its own. `host` is what the redirect address calls this machine.
export async function startClient(issuer, { name = 'Test client', host = '127.0.0.1' } = {}) {
  const arrivals = [];
  const listener = createServer((request, response) => {
    const url = new URL(request.url, 'http://client');
    if (url.pathname === '/callback') arrivals.push(url.searchParams);
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end('<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Back</title><p>Back</p>');
  });
  const address = host === '[::1]' ? '::1' : '127.0.0.1';
  await new Promise((done, failed) => listener.listen(0, address, done).once('error', failed));
  const redirect = `http://${host}:${listener.address().port}/callback`;
  const registered = await post(`${issuer}/register`, 'application/json', JSON.stringify({
    client_name: name,
    redirect_uris: [redirect],
    token_endpoint_auth_method: 'none',
  }));
  const id = registered.client_id;

  // A new request: where to send the person, and what is needed afterwards.
  function ask(scope = 'mcp:read knowledge:read') {
    const [verifier, state] = [randomBytes(32).toString('base64url'), randomBytes(12).toString('base64url')];
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: id,
      redirect_uri: redirect,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${issuer}/mcp`,
      scope,
      state,
    });
    return { url: `${issuer}/authorize?${query}`, verifier, state };
  }

  async function exchange(code, verifier) {
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      client_id: id,
      redirect_uri: redirect,
    });
    return post(`${issuer}/token`, 'application/x-www-form-urlencoded', form);
  }

  return { id, redirect, name: registered.client_name, arrivals, ask, exchange, stop: () => listener.close() };
}

async function post(url, type, body) {
  const headers = { 'Content-Type': type };
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(LIMIT) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

// Calls a tool over MCP with an access token.
export async function call(issuer, token, name, args) {
  const headers = { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${issuer}/mcp`), { requestInit: { headers } });
  const client = new Client({ name: 'browser', version: '1' });
  try {
    await client.connect(transport, { timeout: LIMIT });
    return await client.callTool({ name, arguments: args }, undefined, { timeout: LIMIT });
  } finally {
    await client.close();
  }
}
