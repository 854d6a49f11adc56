// The official TypeScript SDK with one trivial tool: what `cargo xtask bench http` compares with.
// Run with `node typescript.mjs`; it picks a free port and logs it as `lyceum` does.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

// The schemas are made once: the SDK asks for a fresh server per request, and making schemas
// again each time would charge it for work that a careful user of the SDK avoids.
const add = {
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
};

// The default response mode answers with one JSON body, as nothing here is sent before the result.
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench-typescript', version: '0.0.0' });
  server.registerTool('add', add, ({ a, b }) => ({
    content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }],
    structuredContent: { sum: a + b },
  }));
  return server;
});

const http = createServer(toNodeHandler(handler));
http.listen(0, '127.0.0.1', () => {
  console.error(JSON.stringify({ message: 'listening', addr: `127.0.0.1:${http.address().port}` }));
});
