// `keys show`: the public keys that verify webhooks. `webhooks keys list|rotate|retire`: their rotation.
import { MODES, type Mode } from '../../kernel/mode.ts';
import {
  DEFAULT_OVERLAP_HOURS,
  HOUR_MS,
  MAX_OVERLAP_HOURS,
  retireSigningKey,
  rotateSigningKeys,
} from '../../runtime/security/key-rotation.ts';
import { type PublicKeyView, presentPublicKey, publicKeys } from '../../runtime/security/keys.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

async function show({ runtime }: System): Promise<Output> {
  const keys = (await publicKeys(runtime)).map(presentPublicKey);
  const text = keys
    .map(
      (key) =>
        `${key.environment}, ${key.algorithm}, ${key.status}, since ${key.createdAt}\n${key.publicKeyPem}`,
    )
    .join('\n');
  return {
    json: keys,
    text: text || 'There is no key yet. The first start of the server generates the keys.\n',
  };
}

function keysOutput(views: readonly PublicKeyView[]): Output {
  const json = views.map(presentPublicKey);
  const heads = ['KEY', 'ENVIRONMENT', 'ALGORITHM', 'STATUS', 'ACTIVE FROM', 'PUBLISHED UNTIL'];
  const text = table(
    heads,
    json.map((key) => [
      key.keyId,
      key.environment,
      key.algorithm,
      key.status,
      key.activeFrom,
      key.retiredAt ?? '',
    ]),
  );
  return { json, text };
}

const list = async ({ runtime }: System): Promise<Output> => keysOutput(await publicKeys(runtime));

/** The overlap of a rotation in milliseconds. */
export function overlapIn(args: CommandArgs): number {
  const hours = Number(args.text('overlap-hours') ?? DEFAULT_OVERLAP_HOURS);
  if (Number.isInteger(hours) && hours >= 0 && hours <= MAX_OVERLAP_HOURS) return hours * HOUR_MS;
  throw usageError(`--overlap-hours must be a whole number from 0 to ${MAX_OVERLAP_HOURS}`);
}

async function rotate({ runtime }: System, args: CommandArgs): Promise<Output> {
  const environment = args.required('environment') as Mode;
  return keysOutput(await rotateSigningKeys(runtime, environment, overlapIn(args)));
}

const retire = async ({ runtime }: System, args: CommandArgs): Promise<Output> =>
  keysOutput(await retireSigningKey(runtime, args.required('key')));

export const keysVerbs: readonly Verb[] = [
  {
    noun: 'keys',
    verb: 'show',
    summary: 'Show the public keys that verify webhooks',
    flags: {},
    run: show,
  },
];

export const webhookKeyVerbs: readonly Verb[] = [
  {
    noun: 'webhooks',
    verb: 'keys list',
    summary: 'List the keys that sign webhooks, newest first',
    flags: {},
    run: list,
  },
  {
    noun: 'webhooks',
    verb: 'keys rotate',
    summary: 'Publish new keys that sign webhooks after the overlap',
    flags: {
      environment: {
        value: 'ENVIRONMENT',
        required: true,
        choices: MODES,
        help: 'Environment of the keys',
      },
      'overlap-hours': {
        value: 'HOURS',
        help:
          `Hours until the new keys sign, 0 to ${MAX_OVERLAP_HOURS}. The old keys then remain published ` +
          `for the same number of hours (default: ${DEFAULT_OVERLAP_HOURS})`,
      },
    },
    run: rotate,
  },
  {
    noun: 'webhooks',
    verb: 'keys retire',
    summary: 'Stop publishing a key and the other key of its pair',
    flags: {
      key: { value: 'KEY', required: true, help: 'ID of a key that is not active' },
    },
    positional: 'key',
    run: retire,
  },
];
