// Stands in for the model behind Claude Code, which needs an account: asks for one call of a tool, and says what came.
//
//     node model.mjs TOOL ARGUMENTS COMMAND [WORD…]
//
// Starts COMMAND with ANTHROPIC_BASE_URL, passes its output on and ends as it ends. Only the words are made up: the
// call itself is made by Claude Code.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const [tool, argumentsText, command, ...words] = process.argv.slice(2);

// The words for a conversation: the call first, then the text of its result.
function answer(asked) {
  const blocks = asked.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const result = blocks.find(({ type }) => type === 'tool_result');
  if (result) return [{ type: 'text', text: JSON.stringify(result.content) }, 'end_turn'];
  const isThere = asked.tools?.some(({ name }) => name === tool);
  if (!isThere) return [{ type: 'text', text: `there is no ${tool}` }, 'end_turn'];
  return [{ type: 'tool_use', id: 'toolu_1', name: tool, input: JSON.parse(argumentsText) }, 'tool_use'];
}

// The same as events, which is how Claude Code wants it.
function* events([block, reason]) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'made-up', content: [], usage };
  const isText = block.type === 'text';
  const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
  const delta = isText
    ? { type: 'text_delta', text: block.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
  yield { type: 'message_start', message };
  yield { type: 'content_block_start', index: 0, content_block: start };
  yield { type: 'content_block_delta', index: 0, delta };
  yield { type: 'content_block_stop', index: 0 };
  yield { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage };
  yield { type: 'message_stop' };
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method !== 'POST' || request.url.split('?')[0] !== '/v1/messages') {
    response.writeHead(404).end('{}');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events(answer(JSON.parse(body)))) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
});

server.listen(0, '127.0.0.1', () => {
  const model = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`, ANTHROPIC_API_KEY: 'made-up' };
  const options = { env: { ...process.env, ...model }, stdio: ['ignore', 'inherit', 'inherit'] };
  const program = spawn(command, words, options);
  program.on('error', (error) => {
    console.error(`${command} could not be started: ${error.message}`);
    process.exit(1);
  });
  program.on('close', (code) => process.exit(code ?? 1));
});
