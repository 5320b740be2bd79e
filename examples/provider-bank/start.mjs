// Starts the adapter: `node examples/provider-bank/start.mjs serve FOLDER --railhead URL`.
import { runAdapter } from '../adapter.mjs';

await runAdapter(new URL('adapter.ts', import.meta.url));
