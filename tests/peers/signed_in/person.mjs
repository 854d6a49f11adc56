// A person who watches a program and signs in wherever it prints an address of /authorize.
//
//     SIGN_IN_KEY=… node person.mjs COMMAND [WORD…]
//
// The program keeps its input, and its outputs are passed on as they come. Ends as the program ends.

import { spawn } from 'node:child_process';
import { keyOfThePerson, login } from './browser.mjs';

// What ends an address is a space or the escape of a terminal: without one more of it may follow.
const ADDRESS = /https?:\/\/[^\s\x07\x1b]+\/authorize\?[^\s\x07\x1b]+(?=[\s\x07\x1b])/g;

const key = keyOfThePerson();
const [command, ...words] = process.argv.slice(2);
const program = spawn(command, words, { stdio: ['inherit', 'pipe', 'pipe'] });
const followed = new Set();

function watch(from, to) {
  let text = '';
  from.setEncoding('utf8');
  from.on('data', (more) => {
    to.write(more);
    text += more;
    for (const [url] of text.matchAll(ADDRESS)) follow(url);
  });
}

// A terminal shows an address twice: as what is read and as where it leads.
function follow(url) {
  if (followed.has(url)) return;
  followed.add(url);
  login(url, key).then((outcome) => console.error(`the person signed in: ${outcome}`), fail);
}

function fail(error) {
  console.error(`the person could not sign in: ${error.message}`);
  process.exitCode = 1;
  program.kill();
}

watch(program.stdout, process.stdout);
watch(program.stderr, process.stderr);
program.on('error', fail);
program.on('close', (code) => {
  process.exitCode ||= code ?? 1;
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => program.kill(signal));
