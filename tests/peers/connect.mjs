// Asks Codex which MCP servers it reaches. `codex mcp list` only prints the configuration, so this asks its app server,
// which connects to each server and lists its tools. Usage: connect.mjs CODEX; prints the answer as JSON.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [codex] = process.argv.slice(2);
const server = spawn(codex, ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
server.on("error", (error) => { throw error; });
server.on("exit", (code) => { process.exitCode ||= code ?? 1; });

send({ id: 1, method: "initialize", params: { clientInfo: { name: "lyceum-peers", version: "1" } } });
for await (const line of createInterface({ input: server.stdout })) {
  const message = JSON.parse(line);
  if (message.id === 1) {
    send({ method: "initialized" });
    send({ id: 2, method: "mcpServerStatus/list", params: {} });
  }
  if (message.id === 2) {
    console.log(JSON.stringify(message.result ?? message.error));
    server.removeAllListeners("exit");
    server.kill();
    break;
  }
}
