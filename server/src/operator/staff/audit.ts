// `audit verify|export`: the audit records of operators.
import { allAuditLines, verifyAudit } from '../../features/staff/audit/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { record } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

/** The record of `--anchor NUMBER:HASH`. */
function anchorIn(args: CommandArgs): { number: number; hash: string } | undefined {
  const text = args.text('anchor');
  if (text === undefined) return undefined;
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || hash === undefined) {
    throw usageError('--anchor must be the number and the hash of a record, as NUMBER:HASH');
  }
  return { number: Number(number), hash };
}

async function verify({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await verifyAudit(runtime, anchorIn(args));
  const { records, last, problems } = json;
  const summary = record([
    ['Records', String(records)],
    ['Last record', records === 0 ? 'none' : `${last.number}:${last.hash}`],
    ['Problems', String(problems.length)],
  ]);
  const text = `${summary}${problems.map((problem) => `${problem}\n`).join('')}`;
  return { json, text, hasFailed: problems.length > 0 };
}

function numberIn(args: CommandArgs): number {
  const text = args.text('after') ?? '0';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError('--after must be the number of a record');
}

export const auditVerbs: readonly Verb[] = [
  {
    noun: 'audit',
    verb: 'verify',
    summary: 'Verify that no audit record was changed or removed',
    flags: {
      anchor: {
        value: 'NUMBER:HASH',
        help: 'Last record of an earlier verification, which must still exist',
      },
    },
    run: verify,
  },
  {
    noun: 'audit',
    verb: 'export',
    summary: 'Print audit records as JSON lines, oldest first',
    flags: {
      after: { value: 'NUMBER', help: 'Continue after the record with this number (default: 0)' },
    },
    run: async ({ runtime }, args) => ({
      json: null,
      text: '',
      chunks: allAuditLines(runtime.db, numberIn(args)),
      isJson: true,
    }),
  },
];
