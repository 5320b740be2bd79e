// Build of the console: one bundle, served by the server under `/console`.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { bundledPackages } from '../../scripts/release/bundled-packages.mjs';

/** The server of `npm start`, for `npm run console -- dev`. */
const SERVER = process.env.RAILHEAD_SERVER ?? 'http://localhost:3000';

export default defineConfig({
  base: '/console/',
  plugins: [react(), bundledPackages()],
  build: {
    target: 'es2023',
    // No inline code: the policy of the page forbids it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
  },
  server: { proxy: { '/operator': SERVER } },
});
