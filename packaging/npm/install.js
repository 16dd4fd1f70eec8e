// After the installation: puts the program in the place of its launcher, so that no Node starts
// with each event. Where that cannot be, the launcher stays, which does the same more slowly.
"use strict";

const fs = require("fs");
const path = require("path");
const { createHash } = require("crypto");

const launcher = path.join(__dirname, "bin", "hookrun");
const beside = `${launcher}.${process.pid}`;
let found;
try {
  found = require("./program.js")();
} catch (error) {
  process.stderr.write(`hookrun: ${error.message}\n`);
  process.exit(1);
}
const sha256 = createHash("sha256").update(fs.readFileSync(found.file)).digest("hex");
if (sha256 !== found.sha256) {
  process.stderr.write(`hookrun: ${found.file} is not the program of this release\n`);
  process.exit(1);
}
// Yarn keeps packages in archives, and Windows does not start a file without an ending.
if (process.platform !== "win32" && !process.versions.pnp) {
  try {
    try {
      fs.linkSync(found.file, beside);
    } catch {
      fs.copyFileSync(found.file, beside);
    }
    fs.chmodSync(beside, 0o755);
    fs.renameSync(beside, launcher);
  } catch {
    fs.rmSync(beside, { force: true });
  }
}
