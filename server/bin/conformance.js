// `npm run conformance -- --url URL --keys FOLDER [-- COMMAND]`: holds a running adapter of a provider
// against the protocol. docs/guides/provider-adapters.md describes it.
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../scripts/build.mjs';
import { ensureInstalled } from '../../scripts/install.mjs';

await ensureInstalled({ dev: false });
const built = await ensureBuilt();
const { runConformance } = await import(pathToFileURL(built.conformance).href);
await runConformance();
