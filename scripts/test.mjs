// `npm test [-- FILES and vitest flags]`: installs what the tests need and runs them all, or those named.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await ensureInstalled({ dev: true });
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = path.join(root, 'server', 'vitest.config.ts');
const args = ['run', '--config', config, ...process.argv.slice(2)];
const child = spawn(process.execPath, [vitest, ...args], { cwd: root, stdio: 'inherit' });
// Ctrl-C reaches both of us; vitest ends the run and stops the database, we only wait. Other signals come
// to us alone and are passed on.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
