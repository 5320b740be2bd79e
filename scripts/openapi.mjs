// Writes the OpenAPI documents, and the JSON schema of the file with providers, from the contracts. With
// --check it verifies that the files are current.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';

const entryFiles = await ensureBuilt();
const { publishedDocument, operatorDocument, providerDocument, providerFileSchema } = await import(
  pathToFileURL(entryFiles.document).href
);
const DOCUMENTS = {
  'openapi.json': publishedDocument,
  'operator-openapi.json': operatorDocument,
  'docs/providers/openapi.json': providerDocument,
  'docs/providers/providers.schema.json': providerFileSchema,
};

for (const [name, document] of Object.entries(DOCUMENTS)) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const text = `${JSON.stringify(document(), null, 2)}\n`;
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
    const { paths } = document();
    console.log(`${paths ? `${Object.keys(paths).length} paths` : 'schema'} written to ${name}`);
  } else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} differs from the contracts. Run: npm run openapi`);
    process.exit(1);
  }
}
