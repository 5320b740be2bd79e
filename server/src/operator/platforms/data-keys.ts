// `keys list|rotate|retire`: the keys that seal the secrets of the installation, and the master
// keys that open these keys. A rotation prints a line for each step, because it can take minutes.
import { iso } from '../../kernel/effects.ts';
import {
  keyStates,
  retireDataKeys,
  rotateDataKeys,
  staleTexts,
} from '../../runtime/security/data-key-rotation.ts';
import { masterKeyId } from '../../runtime/security/data-keys.ts';
import { configuredMasterKey } from '../../runtime/security/master-key.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

function depsOf({ runtime, keys }: System) {
  if (!keys)
    throw new Error(
      'This program has no access to the keys of the installation. Use the command railhead-server.',
    );
  return { runtime, ...keys };
}

async function list(system: System): Promise<Output> {
  const deps = depsOf(system);
  const keys = keyStates(deps).map(({ activeFrom, ...key }) => ({
    ...key,
    ...(activeFrom === null ? {} : { activeFrom: iso(activeFrom) }),
  }));
  const staleColumns = await staleTexts(deps);
  const text = table(
    ['KEY', 'STATUS', 'ACTIVE FROM', 'MASTER KEYS'],
    keys.map((key) => [
      String(key.number),
      key.status,
      key.activeFrom ?? '',
      key.masterKeys.join(' '),
    ]),
  );
  const lines = staleColumns.map(
    ({ column, count }) => `${column}: ${count} values sealed with an earlier key\n`,
  );
  const masterKey = masterKeyId(deps.masterKey());
  return {
    json: { masterKey, keys, waiting: staleColumns },
    text: `${text}Master key of this configuration: ${masterKey}\n${lines.join('')}`,
  };
}

async function* linesOf(steps: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const step of steps) yield `${step}\n`;
}

const outputOf = (steps: AsyncIterable<string>): Output => ({
  json: null,
  text: '',
  chunks: linesOf(steps),
});

async function rotate(system: System, args: CommandArgs): Promise<Output> {
  const file = args.text('new-master-key-file');
  const command = args.text('new-master-key-command');
  if (file !== undefined && command !== undefined) {
    throw usageError(
      '--new-master-key-file and --new-master-key-command exclude each other. Set one of them.',
    );
  }
  const newKey = configuredMasterKey({ masterKeyFile: file, masterKeyCommand: command });
  return outputOf(rotateDataKeys(depsOf(system), newKey));
}

const retire = async (system: System, args: CommandArgs): Promise<Output> =>
  outputOf(retireDataKeys(depsOf(system), args.isOn('now') ?? false));

export const dataKeyVerbs: readonly Verb[] = [
  {
    noun: 'keys',
    verb: 'list',
    summary: 'List the keys that seal stored secrets, and the master keys that open them',
    flags: {},
    run: list,
  },
  {
    noun: 'keys',
    verb: 'rotate',
    summary: 'Seal all stored secrets with a new key. Continues an interrupted rotation',
    flags: {
      'new-master-key-file': {
        value: 'FILE',
        help: 'File with an additional master key that opens all keys',
      },
      'new-master-key-command': {
        value: 'COMMAND',
        help: 'Shell command that prints the additional master key, instead of a file',
      },
    },
    run: rotate,
  },
  {
    noun: 'keys',
    verb: 'retire',
    summary: 'Delete earlier keys except key 0, and revoke the access of other master keys',
    flags: {
      now: {
        negation: 'wait',
        help: 'Delete the keys even if requests may still contain values that an earlier key sealed',
      },
    },
    run: retire,
  },
];
