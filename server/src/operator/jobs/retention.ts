// `retention show|apply|read`: retention periods of histories, their partitions and their archives.
import {
  applyRetention,
  archiveText,
  type RetentionOverview,
  type RetentionResult,
  retentionOverview,
} from '../../features/retention/index.ts';
import { record, table } from '../cli/table.ts';
import type { Output, Verb } from '../cli/verb.ts';

const dayText = (time: string | null) => time?.slice(0, 10) ?? '-';
const rightColumn = (heading: string) => ({ heading, align: 'right' as const });
const leftColumn = (heading: string) => ({ heading, align: 'left' as const });

function overviewText({ archiveDays, histories, archives }: RetentionOverview): string {
  const settings = histories.map(({ history, days }) => [history, `${days} days`] as const);
  const archivePeriod = archiveDays === 0 ? 'none' : `${archiveDays} days`;
  const partitionTable = table(
    [
      leftColumn('PARTITION'),
      leftColumn('FROM'),
      leftColumn('UNTIL'),
      leftColumn('REMOVED'),
      rightColumn('ROWS'),
      rightColumn('BYTES'),
    ],
    histories.flatMap((history) =>
      history.partitions.map((each) => [
        ...[each.partition, dayText(each.from), dayText(each.until), dayText(each.removedFrom)],
        ...[`${each.rows}`, `${each.bytes}`],
      ]),
    ),
  );
  const archiveTable = table(
    [
      leftColumn('ARCHIVE'),
      leftColumn('PARTITION'),
      leftColumn('UNTIL'),
      leftColumn('STATE'),
      rightColumn('ROWS'),
      rightColumn('BYTES'),
    ],
    archives.map((each) => [
      ...[each.id, each.partition, dayText(each.until), each.state],
      ...[`${each.rows ?? '-'}`, `${each.bytes ?? '-'}`],
    ]),
  );
  const sections = [record([...settings, ['archives', archivePeriod]]), partitionTable];
  return [...sections, ...(archives.length > 0 ? [archiveTable] : [])].join('\n');
}

function appliedOutput(json: RetentionResult): Output {
  const rows = json.partitions.map((each) => [each.partition, each.result, `${each.rows}`]);
  const heads = [leftColumn('PARTITION'), leftColumn('RESULT'), rightColumn('ROWS')];
  const summary = record([
    ['Partitions created', `${json.partitionsCreated}`],
    ['Archives removed', `${json.archivesRemoved}`],
    ['Dry run', json.dryRun ? 'yes: nothing was changed' : 'no'],
  ]);
  return { json, text: rows.length > 0 ? `${table(heads, rows)}\n${summary}` : summary };
}

export const retentionVerbs: readonly Verb[] = [
  {
    noun: 'retention',
    verb: 'show',
    summary: 'Show retention periods, partitions and archives',
    flags: {},
    async run({ retention }) {
      const json = await retentionOverview(retention);
      return { json, text: overviewText(json) };
    },
  },
  {
    noun: 'retention',
    verb: 'apply',
    summary: 'Archive and remove rows that are older than their retention period',
    flags: {
      'dry-run': { negation: 'no-dry-run', help: 'Show the changes without applying them' },
      reason: { value: 'TEXT', help: 'Reason, for the audit record' },
    },
    run: async ({ retention }, args) =>
      appliedOutput(await applyRetention(retention, args.isOn('dry-run'))),
  },
  {
    noun: 'retention',
    verb: 'read',
    summary: 'Print the lines of an archive as JSON, with encrypted content unchanged',
    flags: { archive: { value: 'ARCHIVE', required: true, help: 'ID of the archive' } },
    positional: 'archive',
    run: async ({ retention }, args) => ({
      json: null,
      text: '',
      chunks: await archiveText(retention, args.required('archive')),
      isJson: true,
    }),
  },
];
