// Where the program for this machine is, or why there is none.
"use strict";

const path = require("path");
const { hookrunPrograms, version } = require("./package.json");

module.exports = () => {
  const name = `${process.platform}-${process.arch}`;
  if (!(name in hookrunPrograms)) {
    throw new Error(`hookrun ${version} has no program for ${name}; build it from source with cargo`);
  }
  let folder;
  try {
    folder = path.dirname(require.resolve(`@hookrun/${name}/package.json`));
  } catch {
    throw new Error(
      `the package @hookrun/${name} is not installed; ` +
        "install without --no-optional, and without a lock file that was made for another system only",
    );
  }
  return { file: path.join(folder, "bin", "hookrun"), sha256: hookrunPrograms[name] };
};
