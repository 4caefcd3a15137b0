// Run each function of a snippet and write what it returned.
import { appendFileSync, writeFileSync } from "node:fs";

const [, , snippet, results] = process.argv;
writeFileSync(results, "");
for (const [mode, ask] of Object.entries(await import(snippet))) {
  let line;
  try {
    line = { mode, said: await ask() };
  } catch (error) {
    line = { mode, error: `${error.name}: ${error.message}` };
  }
  appendFileSync(results, JSON.stringify(line) + "\n");
}
process.exit(0);
