const { execSync } = require("child_process");
const { createHash } = require("crypto");
const { Worker } = require("worker_threads");
const fs = require("fs");

const file = process.env.TMPDIR + "/file";
fs.writeFileSync(file, "text");
const hash = createHash("sha256").update("x").digest("hex");
const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
const worker = new Worker('require("worker_threads").parentPort.postMessage(6 * 7)', { eval: true });
worker.on("message", (answer) => {
  const child = execSync("echo child").toString().trim();
  console.log("hello", answer, child, hash.length, fs.readFileSync(file, "utf8"), memory.buffer.byteLength);
});
