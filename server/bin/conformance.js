// `npm run conformance -- --url URL --keys FOLDER [-- COMMAND]`: checks whether the running adapter of
// a provider conforms to the protocol. docs/guides/provider-adapters.md describes the command.
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../../scripts/build.mjs';
import { ensureInstalled } from '../../scripts/install.mjs';

await ensureInstalled({ dev: false });
const builtFiles = await ensureBuilt();
const { runConformance } = await import(pathToFileURL(builtFiles.conformance).href);
await runConformance();
