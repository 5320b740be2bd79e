// Writes openapi.json from the contracts; with --check it verifies that the file is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));
const built = await ensureBuilt();
const { publishedDocument } = await import(pathToFileURL(built.document).href);
const text = `${JSON.stringify(publishedDocument(), null, 2)}\n`;
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('openapi.json is not what the contracts say. Run: npm run openapi');
    process.exit(1);
  }
} else {
  writeFileSync(file, text);
  console.log(`${Object.keys(publishedDocument().paths).length} paths written to openapi.json`);
}
