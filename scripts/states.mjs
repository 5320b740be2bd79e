// Writes docs/states.md from the state tables. With --check it verifies that the file is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';

const file = fileURLToPath(new URL('../docs/states.md', import.meta.url));
const entryFiles = await ensureBuilt();
const { statesPage } = await import(pathToFileURL(entryFiles.document).href);
const text = statesPage();
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/states.md differs from the state tables. Run: npm run states');
    process.exit(1);
  }
} else {
  writeFileSync(file, text);
  console.log(`${text.split('\n## ').length - 1} lifecycles written to docs/states.md`);
}
