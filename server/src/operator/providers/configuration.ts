// `providers import|export|set-terms|set-balance|health`: the import and export of providers as a
// file, and their terms, balances and health.
import { readFileSync } from 'node:fs';
import { PROVIDER_SCHEMAS, providerManagement } from '../../features/providers/index.ts';
import { fieldErrors } from '../../kernel/contract/validate.ts';
import { invalid } from '../../kernel/fault.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { managerOf, outputOf, PROVIDER } from './providers.ts';

const { ProviderFile, ProviderTerms } = PROVIDER_SCHEMAS;

/**
 * The JSON in a file. Throws a usage error if it cannot be read, and INVALID_INPUT with schema
 * errors.
 */
function jsonIn<T extends typeof ProviderFile | typeof ProviderTerms>(
  args: CommandArgs,
  schema: T,
): T['static'] {
  const file = args.required('file');
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw usageError(`${file} ${problem}`);
  }
  const errors = fieldErrors(schema, value, 'body');
  if (errors.length > 0) throw invalid(errors);
  return value as T['static'];
}

type FileChange = Awaited<ReturnType<typeof providerManagement.import>>['changes'][number];

const SIGNS = { ADD: '+', CHANGE: '~', REMOVE: '-' } as const;

function changeLine({ action, subject, id, field, before, after }: FileChange): string {
  const value = field === undefined ? '' : ` ${field}: ${before} → ${after}`;
  return `${SIGNS[action]} ${subject.toLowerCase()} ${id}${value}\n`;
}

async function importFile(system: System, args: CommandArgs): Promise<Output> {
  const file = jsonIn(args, ProviderFile);
  const isDryRun = args.isOn('dry-run') ?? false;
  const json = await providerManagement.import(await managerOf(system), file, isDryRun);
  const lines = json.changes.map(changeLine).join('');
  const resultText = json.applied ? 'Applied.' : isDryRun ? 'No change was applied.' : 'No change.';
  return { json, text: `${lines}${resultText}\n` };
}

async function exportFile(system: System): Promise<Output> {
  const json = await providerManagement.export(await managerOf(system));
  return { json, text: `${JSON.stringify(json, null, 2)}\n` };
}

async function setTerms(system: System, args: CommandArgs): Promise<Output> {
  const terms = jsonIn(args, ProviderTerms);
  const deps = await managerOf(system);
  return outputOf(await providerManagement.setTerms(deps, args.required('provider'), terms));
}

async function setBalance(system: System, args: CommandArgs): Promise<Output> {
  const amount = Number(args.required('amount'));
  if (!Number.isSafeInteger(amount) || amount < 0) {
    throw usageError('--amount must be an integer of at least 0, in minor units');
  }
  const asOf = args.text('as-of');
  if (asOf !== undefined && Number.isNaN(Date.parse(asOf))) {
    throw usageError('--as-of must be a time such as 2026-11-27T09:00:00Z');
  }
  const balance = { currency: args.required('currency'), amount, asOf };
  const deps = await managerOf(system);
  return outputOf(await providerManagement.setBalance(deps, args.required('provider'), balance));
}

const percentText = (rate: number | null) =>
  rate === null ? '-' : `${Math.round(rate * 1_000) / 10} %`;
const msText = (value: number | null) => (value === null ? '-' : `${value} ms`);

async function showHealth(system: System, args: CommandArgs): Promise<Output> {
  const json = await providerManagement.health(await managerOf(system), args.text('provider'));
  const heads = ['PROVIDER', 'STATUS', 'MINUTES', 'CALLS', 'ERRORS', 'AVERAGE', 'LONGEST'];
  const text = table(
    [...heads, 'SETTLED', 'SUCCESS', 'RETURNS'],
    json.flatMap(({ providerId, status, windows }) =>
      windows.map((each) => [
        ...[providerId, status, `${each.minutes}`, `${each.calls}`, percentText(each.errorRate)],
        ...[msText(each.averageMs), msText(each.maxMs), `${each.settled}`],
        ...[percentText(each.successRate), percentText(each.returnRate)],
      ]),
    ),
  );
  return { json, text };
}

const fileFlag = (help: string): Flags => ({ file: { value: 'FILE', required: true, help } });

export const providerConfigurationVerbs: readonly Verb[] = [
  {
    noun: 'providers',
    verb: 'import',
    summary: 'Apply a file with providers and routes',
    flags: {
      ...fileFlag('JSON file in the format of docs/providers/providers.schema.json'),
      'dry-run': { negation: 'apply', help: 'Only print the changes' },
    },
    positional: 'file',
    run: importFile,
  },
  {
    noun: 'providers',
    verb: 'export',
    summary: 'Print the current providers and routes as a file for providers import',
    flags: {},
    run: exportFile,
  },
  {
    noun: 'providers',
    verb: 'set-terms',
    summary: 'Set limits, cut-off times, prefunding and automatic pause',
    flags: { ...PROVIDER, ...fileFlag('JSON file with the terms, as in the file for import') },
    positional: 'provider',
    run: setTerms,
  },
  {
    noun: 'providers',
    verb: 'set-balance',
    summary: 'Record the prefunded balance at a provider',
    flags: {
      ...PROVIDER,
      currency: { value: 'CURRENCY', required: true, help: 'Currency of the balance' },
      amount: { value: 'AMOUNT', required: true, help: 'Amount, in minor units' },
      'as-of': { value: 'TIME', help: 'Time of the amount (default: now)' },
    },
    positional: 'provider',
    run: setBalance,
  },
  {
    noun: 'providers',
    verb: 'health',
    summary: 'Show calls, durations and results of providers',
    flags: { provider: { value: 'PROVIDER', help: 'Only this provider (default: all)' } },
    positional: 'provider',
    run: showHealth,
  },
];
