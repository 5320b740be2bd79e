// The operator's command for tests that call it hundreds of times. The process of the tests runs
// the command on one open installation, because each start of the program needs 0.3 s of processor
// time.
import { readConfig } from '../../../src/config.ts';
import { withSystem } from '../../../src/operator/cli/system.ts';
import type { System } from '../../../src/operator/cli/verb.ts';
import { main } from '../../../src/operator.ts';

interface CommandOutput {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface OperatorService {
  run(argv: readonly string[]): Promise<CommandOutput>;
  close(): Promise<void>;
}

/** Opens the installation of `env`. */
export async function openOperator(
  env: Readonly<Record<string, string>>,
): Promise<OperatorService> {
  const settings = readConfig(env, []);
  if (!('config' in settings)) throw new Error(`invalid settings: ${JSON.stringify(settings)}`);
  let release: () => void = () => undefined;
  let whenClosed = Promise.resolve();
  const system = await new Promise<System>((resolve, reject) => {
    whenClosed = withSystem(settings.config, (system) => {
      resolve(system);
      return new Promise<void>((resolveDone) => {
        release = resolveDone;
      });
    });
    whenClosed.catch(reject);
  });
  async function run(argv: readonly string[]): Promise<CommandOutput> {
    const result = { out: '', err: '' };
    const code = await main(argv, {
      env,
      out: (text) => {
        result.out += text;
      },
      err: (text) => {
        result.err += text;
      },
      open: (_config, work) => work(system),
    });
    return { code, ...result };
  }
  return {
    run,
    async close() {
      release();
      await whenClosed;
    },
  };
}
