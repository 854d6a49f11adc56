// Calls of tools with a token, by both doors.
import assert from 'node:assert/strict';

import { DOCUMENT } from './server.mjs';
import { ask } from './wallet.mjs';

const VERSION = '2026-07-28';

export async function callByRest(url, tokens, tool, args) {
  return ask(`${url}/tools/${tool}/call`, { headers: bearer(tokens), json: { arguments: args } });
}

export async function callByMcp(url, tokens, tool, args) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = {
    ...bearer(tokens),
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': tool,
  };
  const params = { name: tool, arguments: args, _meta: meta };
  return ask(`${url}/mcp`, { headers, json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } });
}

// The member's tool answers, by both doors.
export async function reads(url, tokens) {
  for (const call of [callByMcp, callByRest]) {
    const answer = await call(url, tokens, 'get_document', DOCUMENT);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /A role goes to another person/);
  }
}

// A tool is refused by both doors, and what is missing is said.
export async function isRefused(url, tokens, tool = 'get_document', scope = 'knowledge:read') {
  for (const call of [callByMcp, callByRest]) {
    const answer = await call(url, tokens, tool, tool === 'get_document' ? DOCUMENT : {});
    assert.equal(answer.status, 403, answer.text);
    const challenge = answer.headers.get('www-authenticate');
    assert.match(challenge, /error="insufficient_scope"/);
    assert.match(challenge, new RegExp(`scope="[^"]*\\b${scope}\\b`));
    assert.doesNotMatch(answer.text, /A role goes to another person/);
  }
}

// How a token is sent.
export function bearer({ access_token }) {
  return { authorization: `Bearer ${access_token}` };
}
