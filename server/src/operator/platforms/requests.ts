// `requests list|show` and `platform request-bodies`: recorded requests of any platform, and the
// permission to store masked bodies of a production platform until a time.

import {
  type BodyRetention,
  keepRequestBodies,
  listRequestsByOperator,
  requestByOperator,
} from '../../features/tenancy/requests/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from './platform.ts';

const PLATFORM = { value: 'PLATFORM', required: true, help: 'ID of the platform' } as const;
const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const;

async function list(system: System, args: CommandArgs): Promise<Output> {
  const platformId = (await platformIn(system, args)) as string;
  const json = await listRequestsByOperator(system.runtime, platformId, {
    operationId: args.text('operation'),
    resourceId: args.text('resource'),
    statusClass: args.text('status') as (typeof STATUS_CLASSES)[number] | undefined,
    limit: limitIn(args),
  });
  const heads = ['REQUEST', 'TIME', 'OPERATION', 'STATUS', 'CODE', 'MS', 'CALLER', 'RESOURCE'];
  const isNumber = (heading: string) => heading === 'STATUS' || heading === 'MS';
  const text = table(
    heads.map((heading) => ({ heading, align: isNumber(heading) ? 'right' : 'left' })),
    json.map((each) => [
      each.id,
      each.createdAt,
      each.operationId,
      `${each.status}`,
      each.errorCode ?? '-',
      each.durationMs.toFixed(1),
      each.token?.name ?? each.agentId ?? 'link',
      each.resourceId ?? '-',
    ]),
  );
  return { json, text };
}

async function show({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await requestByOperator(runtime, args.required('request'));
  const { error, token, requestBody, responseBody } = json;
  const bodyText = (each: typeof requestBody) =>
    each && `${JSON.stringify(each.content)}${each.truncated ? ' (truncated)' : ''}`;
  const pairs: [string, string | undefined][] = [
    ['Request', json.id],
    ['Platform', json.platformId],
    ['Time', json.createdAt],
    ['Operation', `${json.operationId} (${json.method} ${json.path})`],
    ['Status', `${json.status}`],
    ['Error code', json.errorCode],
    ['Reason', error?.reason],
    ['Details', error?.details && JSON.stringify(error.details)],
    ['Duration', `${json.durationMs.toFixed(1)} ms`],
    ['Token', token && `${token.name} (${token.id})`],
    ['Agent', json.agentId],
    ['Address', json.address],
    ['Idempotency key hash', json.idempotencyKeyHash],
    ['Replayed', json.replayed ? 'yes' : 'no'],
    ['Resource', json.resourceId],
    ['Request body', bodyText(requestBody)],
    ['Response body', bodyText(responseBody)],
  ];
  const text = record(
    pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  return { json, text };
}

/** A time in the future, or null for `off`. */
function endIn(args: CommandArgs, now: number): number | null {
  const text = args.required('until');
  if (text === 'off') return null;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(time)) {
    throw usageError('--until must be a time such as 2026-03-01T00:00:00Z, or off');
  }
  if (time <= now)
    throw usageError('--until must be in the future. Use off to stop storing bodies now');
  return time;
}

function retentionOutput(json: BodyRetention): Output {
  const { platformId, requestBodiesUntil: endTime } = json;
  const text =
    endTime === null
      ? `Request bodies of ${platformId} are not stored.\n`
      : `Masked request bodies of ${platformId} are stored until ${endTime}.\n`;
  return { json, text };
}

async function setRetention(system: System, args: CommandArgs): Promise<Output> {
  const { runtime } = system;
  const endTime = endIn(args, runtime.effects.now());
  return retentionOutput(await keepRequestBodies(runtime, args.required('platform'), endTime));
}

export const requestVerbs: readonly Verb[] = [
  {
    noun: 'platform',
    verb: 'request-bodies',
    summary: 'Store masked request bodies of a production platform until a time',
    flags: {
      platform: PLATFORM,
      until: {
        value: 'TIME',
        required: true,
        help: 'Time until which bodies are stored, such as 2026-03-01T00:00:00Z, or off to stop now',
      },
    },
    positional: 'platform',
    run: setRetention,
  },
  {
    noun: 'requests',
    verb: 'list',
    summary: 'List requests of a platform, newest first',
    flags: {
      platform: PLATFORM,
      operation: { value: 'OPERATION', help: 'Filter by operationId (default: all)' },
      status: {
        value: 'CLASS',
        choices: STATUS_CLASSES,
        help: 'Filter by status class (default: all)',
      },
      resource: {
        value: 'RESOURCE',
        help: 'Filter by created or affected resource (default: all)',
      },
      ...LIMIT,
    },
    positional: 'platform',
    run: list,
  },
  {
    noun: 'requests',
    verb: 'show',
    summary: 'Show a request by the X-Request-Id of its reply',
    flags: { request: { value: 'REQUEST', required: true, help: 'X-Request-Id of the reply' } },
    positional: 'request',
    run: show,
  },
];
