// Build of the console, which the server serves under `/console`.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { bundledPackages } from '../../scripts/release/bundled-packages.mjs';

/** API server for `node packages/console/scripts/run.mjs dev`. */
const SERVER = process.env.RAILHEAD_SERVER ?? 'http://localhost:4000';

export default defineConfig({
  base: '/console/',
  plugins: [react(), bundledPackages()],
  build: {
    target: 'es2023',
    // Inline code is omitted, because the content security policy of the page forbids it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
  },
  server: { proxy: { '/operator': SERVER } },
});
