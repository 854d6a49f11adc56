// Programs that are started for a test, and surely ended with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const running = new Set();

// Whatever happens to the test, nothing that it started stays behind.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// Starts a program: `said()` is what it wrote so far, `stop()` ends it and waits, `pause()` makes it hang.
export function start(program, words, env, cwd) {
  const child = spawn(program, words, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  }
  child.on('error', (error) => (said += `${program} could not be started: ${error.message}\n`));
  const ended = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  ended.then(() => running.delete(child));
  const stop = async () => {
    if (!running.has(child)) return;
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  };
  const [pause, resume] = ['SIGSTOP', 'SIGCONT'].map((signal) => () => child.kill(signal));
  return { said: () => said, hasEnded: () => !running.has(child), stop, pause, resume };
}

// Waits until something is so, and gives back what it found.
export async function until(what, limit, look, program) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (program?.hasEnded()) throw new Error(`${what}: the program has ended: ${program.said()}`);
    if (Date.now() > end) throw new Error(`${what}: not so after ${limit} ms: ${program?.said() ?? ''}`);
    await sleep(20);
  }
}

// A port that nobody uses at this moment.
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
