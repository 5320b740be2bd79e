// The entry of the server: reads the settings and runs one process, or a supervisor of several. The
// entry prints only until the server listens. Later messages are logged.
import { type Config, readConfig } from './config.ts';
import { listenProblem } from './http/connection/listen.ts';
import { messageWithCause } from './kernel/fault.ts';
import { supervisorLink } from './processes/link.ts';
import { versionLine } from './runtime/config/version.ts';
import { report } from './startup.ts';

function print(text: string): undefined {
  process.stdout.write(`${text}\n`);
}

/**
 * Runs the server with these flags and returns its settings after the start. Undefined for `--help` and
 * `--version`. Exits with code 2 for invalid settings, and with code 1 if the start fails.
 */
export async function main(argv: readonly string[]): Promise<Pick<Config, 'console'> | undefined> {
  if (argv.includes('--version')) return print(versionLine());
  const result = readConfig(process.env, argv);
  if ('help' in result) return print(result.help);
  if ('errors' in result) {
    for (const line of result.errors) report(line);
    process.exit(2);
  }
  const { config } = result;
  const link = supervisorLink();
  try {
    // The supervisor does not load the server, to save memory.
    if (config.processes > 1 && !link) {
      const { supervise } = await import('./processes/supervisor.ts');
      await supervise(config, argv);
    } else {
      const { serve } = await import('./serve.ts');
      await serve(config, link);
    }
    return config;
  } catch (error) {
    const problem = listenProblem(error, config);
    report(problem ?? (error instanceof Error ? messageWithCause(error) : String(error)));
    if (config.logLevel === 'debug' && error instanceof Error) report(error.stack ?? '');
    process.exit(1);
  }
}
