// The browser of a person who signs in with a key, up to the program that asked.

import { setTimeout as sleep } from 'node:timers/promises';

const SECONDS = 20;

// Opens the page and enters the key. Returns the name on the page, and where the browser is sent with the code.
export async function signIn(url, key) {
  const asked = await fetch(url, { redirect: 'manual', signal: limit() });
  const page = await asked.text();
  if (asked.status !== 200) throw new Error(`the page is not there: ${asked.status} ${page}`);
  const cookie = asked.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ');
  const state = page.match(/name="stateId" value="([^"]+)"/)?.[1];
  const name = page.match(/<h1>Allow <bdi>(.+)<\/bdi> to act for you\?<\/h1>/)?.[1];
  if (!cookie || !state || !name) throw new Error(`the page has no cookie, no state or no name: ${page}`);

  const answer = await fetch(new URL('/authorize', url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ stateId: state, key, do: 'key' }),
    redirect: 'manual',
    signal: limit(),
  });
  const place = answer.headers.get('location');
  if (answer.status !== 303 || !place) throw new Error(`no way back: ${answer.status} ${await answer.text()}`);
  return { name, place: new URL(place) };
}

// The whole way, as a browser goes it. Returns what is to be printed.
export async function login(url, key) {
  const { name, place } = await signIn(url, key);
  const answer = await reach(place);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered with ${answer.status}: ${text}`);
  return `${answer.status} from ${name}`;
}

// The key of the person, from the environment.
export function keyOfThePerson() {
  const key = process.env.SIGN_IN_KEY;
  if (!key) throw new Error('SIGN_IN_KEY holds no key');
  return key;
}

// Some clients print the address before they listen.
async function reach(place) {
  for (const end = Date.now() + SECONDS * 1000; ; await sleep(50)) {
    try {
      return await fetch(place, { signal: limit() });
    } catch (error) {
      if (error.cause?.code !== 'ECONNREFUSED' || Date.now() > end) throw error;
    }
  }
}

function limit() {
  return AbortSignal.timeout(SECONDS * 1000);
}
