// emulate, an independent GitHub: a private repository with the files of a folder, and a user who may read it.
//
//     node emulate.mjs FOLDER TOKEN
//
// Writes one line of JSON to standard error when it listens.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { createEmulator } from "emulate";

const [folder, token] = process.argv.slice(2);

const github = await createEmulator({
  service: "github",
  port: 0,
  seed: {
    tokens: { [token]: { login: "acme", scopes: ["repo", "user"] } },
    github: {
      users: [{ login: "acme", name: "Acme" }],
      // auto_init makes the branch main, with a README.md.
      repos: [{ owner: "acme", name: "library", private: true, auto_init: true }],
    },
  },
});

const files = (path) =>
  readdirSync(path).flatMap((name) => {
    const file = join(path, name);
    if (name === ".git" || name === "README.md") return [];
    return statSync(file).isDirectory() ? files(file) : [file];
  });

for (const file of files(folder)) {
  const path = relative(folder, file).split("/").map(encodeURIComponent).join("/");
  const answer = await fetch(`${github.url}/repos/acme/library/contents/${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "user-agent": "lyceum-peers" },
    body: JSON.stringify({ message: path, content: readFileSync(file).toString("base64") }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

console.error(JSON.stringify({ message: "listening", addr: `127.0.0.1:${new URL(github.url).port}` }));
