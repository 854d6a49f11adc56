// Names: what an account is called, as far as the name leads back to it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { decodeFunctionData, encodeAbiParameters, parseAbi } from 'viem';

import { bearer } from '../calls.mjs';
import { ask, signIn } from '../wallet.mjs';

const TEXTS = parseAbi(['function text(bytes32 node, string key) view returns (string)']);

// The port of a gateway must be known before the server that trusts it starts.
export async function startGateway() {
  let asked = 0;
  const server = createServer(async (request, response) => {
    asked += 1;
    const chunks = await request.toArray();
    const data = request.method === 'GET'
      ? request.url.split('/').at(-1)
      : JSON.parse(Buffer.concat(chunks)).data;
    const { args } = decodeFunctionData({ abi: TEXTS, data });
    const text = { avatar: 'https://pictures.example/c.png', 'com.github': 'from-outside' }[args[1]] ?? '';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: encodeAbiParameters([{ type: 'string' }], [text]) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  return { host, asked: () => asked, stop: () => server.close() };
}

export async function names({ that }, world, server, trusting, gateway) {
  const [alice, mallory, carol, dave, plain, loud] = world.accounts.slice(20);
  const texts = { avatar: 'https://pictures.example/a.png', 'com.github': 'alice-on-github' };
  await that('an account whose name leads back to it is called by it, with its texts', async () => {
    await world.name('alice.eth', alice.address, texts);
    const expected = { ensName: 'alice.eth', avatar: texts.avatar, github: texts['com.github'] };
    assert.deepEqual(await named(server, alice), expected);
  });
  await that('an account that claims the name of another has no name', async () => {
    await world.claim(mallory.address, 'alice.eth');
    assert.deepEqual(await named(server, mallory), {});
  });
  await that('an account without a name has none', async () => {
    assert.deepEqual(await named(server, plain), {});
  });
  await that('a name that is not written as ENSIP-15 says is none', async () => {
    await world.name('Loud.eth', loud.address, texts);
    assert.deepEqual(await named(server, loud), {});
  });
  await that('what lies outside the chain is not fetched from this machine', async () => {
    await world.nameOutside('carol.eth', carol.address, [`http://${gateway.host}/{sender}/{data}`]);
    assert.deepEqual(await named(server, carol), { ensName: 'carol.eth' });
    assert.equal(gateway.asked(), 0);
  });
  await that('what lies outside the chain is fetched where the operator trusts the host', async () => {
    await world.nameOutside('dave.eth', dave.address, [`http://${gateway.host}/`]);
    for (const [account, ensName] of [[carol, 'carol.eth'], [dave, 'dave.eth']]) {
      const expected = { ensName, avatar: 'https://pictures.example/c.png', github: 'from-outside' };
      assert.deepEqual(await named(trusting, account), expected);
    }
    assert.equal(gateway.asked(), 4);
  });
}

// What the server tells somebody about themselves when they have signed in.
async function named({ url }, account) {
  const tokens = await signIn({ url, account });
  const answer = await ask(`${url}/account`, { method: 'GET', headers: bearer(tokens) });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.json.subject, new RegExp(account.address, 'i'));
  const { ensName, avatar, github } = answer.json;
  return JSON.parse(JSON.stringify({ ensName, avatar, github }));
}
