// Hats: what an account wears on the chain is what it may do.
import assert from 'node:assert/strict';

import { callByRest, isRefused, reads } from '../calls.mjs';
import { until } from '../process.mjs';
import { refresh, signIn } from '../wallet.mjs';

const PUBLIC = 'mcp:read';
const MEMBER = 'knowledge:read mcp:read';
const VIBECODER = 'knowledge:read mcp:read skills:run sources:refresh';

export async function roles({ that }, world, { url }, brief) {
  const [nobody, member, vibecoder, late, gone] = world.accounts;
  await that('an account without a hat gets what is public, and get_document is refused', async () => {
    const tokens = await signIn({ url, account: nobody });
    assert.equal(scopes(tokens), PUBLIC);
    await isRefused(url, tokens);
    assert.equal((await callByRest(url, tokens, 'define_term', { term: 'governance' })).status, 200);
  });
  await that('an account with hat 30.3.5 is a member', async () => {
    await world.hat(member.address, '30.3.5');
    const tokens = await signIn({ url, account: member });
    assert.equal(scopes(tokens), MEMBER);
    await reads(url, tokens);
    await isRefused(url, tokens, 'refresh_sources', 'sources:refresh');
  });
  await that('an account with hat 30.3.1 is a vibecoder', async () => {
    await world.hat(vibecoder.address, '30.3.1');
    const tokens = await signIn({ url, account: vibecoder, chainId: 1 });
    assert.equal(scopes(tokens), VIBECODER);
    await reads(url, tokens);
    assert.equal((await callByRest(url, tokens, 'refresh_sources', {})).status, 200);
  });
  await that('a program of a vibecoder that asks for less has less', async () => {
    const tokens = await signIn({ url, account: vibecoder, scope: PUBLIC });
    assert.equal(scopes(tokens), PUBLIC);
    await isRefused(url, tokens);
  });
  await that('a hat that is given later counts from the next refresh on, for what the person allowed', async () => {
    const [all, less] = [await signIn({ url, account: late }), await signIn({ url, account: late, scope: PUBLIC })];
    assert.equal(scopes(all), PUBLIC);
    await world.hat(late.address, '30.3.5');
    const renewed = await refreshed(all);
    assert.equal(scopes(renewed), MEMBER);
    await reads(url, renewed);
    const still = await refreshed(less);
    assert.equal(scopes(still), PUBLIC);
    await isRefused(url, still);
  });
  await that('a hat that is turned off is gone at the next refresh, for older tokens too, and comes back', async () => {
    const before = await signIn({ url, account: member });
    await reads(url, before);
    await world.toggle('30.3.5', false);
    const off = await refreshed(before);
    await world.toggle('30.3.5', true);
    assert.equal(scopes(off), PUBLIC);
    await isRefused(url, off);
    await isRefused(url, before);
    const on = await refreshed(off);
    assert.equal(scopes(on), MEMBER);
    await reads(url, on);
  });
  await that('a hat that is taken from its wearer is gone at the next refresh', async () => {
    await world.hat(gone.address, '30.3.1');
    const before = await signIn({ url, account: gone });
    assert.equal(scopes(before), VIBECODER);
    await world.unhat(gone.address, '30.3.1');
    assert.equal(scopes(await refreshed(before)), PUBLIC);
    await isRefused(url, before);
  });
  await that('a hat that is turned off is gone when the time of roles is over, without any refresh', async () => {
    const tokens = await signIn({ url: brief.url, account: member });
    await reads(brief.url, tokens);
    await world.toggle('30.3.5', false);
    const refused = () => isRefused(brief.url, tokens).then(() => true, () => false);
    try {
      // A second for the role, five for the token.
      await until('the member is refused', 8_000, refused);
    } finally {
      await world.toggle('30.3.5', true);
    }
  });
}

function scopes({ scope }) {
  return scope.split(' ').sort().join(' ');
}

async function refreshed(tokens) {
  const answer = await refresh(tokens);
  assert.equal(answer.status, 200, answer.text);
  return answer.tokens;
}
