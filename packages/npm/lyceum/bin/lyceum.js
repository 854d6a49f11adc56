#!/usr/bin/env node
// Starts the program of this platform, passes signals on, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@lyceum/cli-${platform}/lyceum`);
} catch {
  console.error(
    `lyceum: the package @lyceum/cli-${platform} is not installed. Either there is none for this platform, or npm left out ` +
      "optional packages: install again without --omit=optional. Otherwise build from source.",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`lyceum: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
