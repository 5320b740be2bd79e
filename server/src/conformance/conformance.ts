// `npm run conformance -- --url URL --keys FOLDER`: checks whether a running adapter conforms to
// the provider protocol. This process simulates Railhead and needs no database.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Effects } from '../kernel/effects.ts';
import { systemEffects } from '../runtime/config/system-effects.ts';
import { callsTo } from './calls.ts';
import type { CheckResult } from './check.ts';
import { openInbox } from './inbox.ts';
import { adapterKeys, newSignatureKey, ownKey } from './keys.ts';
import { adapterProcess } from './process.ts';
import { isConformant, jsonReport, textReport } from './report.ts';
import { runChecks } from './run.ts';
import type { SessionContext } from './session.ts';
import type { TransferSettings } from './transfers.ts';

const USAGE = `Usage: npm run conformance -- --url URL [flags] [-- COMMAND]

  --url URL         address of the adapter. Without it only the keys are created
  --keys FOLDER     folder with adapter.pub.pem, the public key of the adapter. railhead.pub.pem
                    and railhead-next.pub.pem are created in it (default: .railhead/conformance)
  --name NAME       name of the provider, in the address for messages (default: acme-bank)
  --port PORT       port for messages on 127.0.0.1 (default: 9400)
  --transfers FILE  JSON file with fields of the transfers, in general and for each outcome
  --only NAMES      prefixes of the names of checks, separated by commas (default: all)
  --wait SECONDS    maximum time for an outcome or a message (default: 15)
  --quiet SECONDS   time during which further messages are failures (default: 3)
  --json            print the report as JSON
  COMMAND           command that starts the adapter. Some checks kill and restart it

Exit code 1: a check failed. Exit code 2: invalid usage, or the checks could not run.
`;

const OPTIONS = {
  url: { type: 'string' },
  keys: { type: 'string', default: '.railhead/conformance' },
  name: { type: 'string', default: 'acme-bank' },
  port: { type: 'string', default: '9400' },
  transfers: { type: 'string' },
  only: { type: 'string', default: '' },
  wait: { type: 'string', default: '15' },
  quiet: { type: 'string', default: '3' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const [CONFORMANT, FAILED, USAGE_ERROR] = [0, 1, 2];

export interface ConformanceIo {
  print(text: string): void;
  err(text: string): void;
  width: number;
  isColored: boolean;
  effects?: Effects;
}

function parsePositive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number greater than 0.`);
  return value;
}

function flagsOf(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
  });
  const { url, transfers, only } = values;
  if (url !== undefined && !/^https?:\/\/[^/]+/.test(url)) {
    throw new Error('--url must be an http or https URL.');
  }
  const settings = transfers === undefined ? {} : JSON.parse(readFileSync(transfers, 'utf8'));
  return {
    ...values,
    url: url?.replace(/\/$/, ''),
    command: positionals,
    port: parsePositive('port', values.port),
    waitMs: parsePositive('wait', values.wait) * 1_000,
    quietMs: parsePositive('quiet', values.quiet) * 1_000,
    settings: settings as TransferSettings,
    namePrefixes: only.split(',').filter(Boolean),
  };
}

type Flags = ReturnType<typeof flagsOf>;

async function checkAdapter(url: string, flags: Flags, io: ConformanceIo, effects: Effects) {
  const key = ownKey(effects, flags.keys);
  const calls = callsTo(effects, url, key);
  const inbox = await openInbox(effects, { ...flags, publicKeys: adapterKeys(flags.keys) });
  const child = flags.command.length > 0 ? adapterProcess(flags.command, calls) : undefined;
  const { waitMs, quietMs, settings, namePrefixes } = flags;
  const context: SessionContext = {
    ...{ effects, calls, inbox, key, settings, waitMs, quietMs },
    otherKey: newSignatureKey(effects),
    nextKey: ownKey(effects, flags.keys, 'next'),
    ...(child ?? {}),
  };
  try {
    await child?.start();
    const results = await runChecks(context, {
      isSelected: (name) =>
        namePrefixes.length === 0 || namePrefixes.some((prefix) => name.startsWith(prefix)),
      progress: ({ verdict, name }: CheckResult) => io.err(`${verdict}  ${name}\n`),
    });
    const options = { url, inbox: inbox.url, width: io.width, isColored: io.isColored };
    io.print(flags.json ? jsonReport(results, options) : textReport(results, options));
    return isConformant(results) ? CONFORMANT : FAILED;
  } finally {
    await child?.kill();
    await inbox.close();
  }
}

/** Runs the command and returns its exit code. */
export async function conformance(argv: readonly string[], io: ConformanceIo): Promise<number> {
  const effects = io.effects ?? systemEffects();
  try {
    const flags = flagsOf(argv);
    if (flags.help) {
      io.print(USAGE);
      return CONFORMANT;
    }
    if (flags.url !== undefined) return await checkAdapter(flags.url, flags, io, effects);
    ownKey(effects, flags.keys);
    ownKey(effects, flags.keys, 'next');
    io.print(`${flags.keys}/railhead.pub.pem is the public key that the adapter must accept.\n`);
    return CONFORMANT;
  } catch (error) {
    io.err(`${(error as Error).message}\n\n${USAGE}`);
    return USAGE_ERROR;
  }
}

/** Runs the command with the arguments of this process. */
export async function runConformance(): Promise<void> {
  const { stdout, stderr, env } = process;
  process.exitCode = await conformance(process.argv.slice(2), {
    print: (text) => void stdout.write(text),
    err: (text) => {
      // Progress is shown in a terminal only, because the report contains it.
      if (stderr.isTTY || !/^(passed|failed|skipped) {2}/.test(text)) stderr.write(text);
    },
    width: stdout.columns ?? 140,
    isColored: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
  });
}
