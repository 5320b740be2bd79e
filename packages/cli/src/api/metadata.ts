// Metadata of the API, written by the build from the OpenAPI document.
import { existsSync, readFileSync } from 'node:fs';

export interface Resource {
  /** Name of the command, such as `external-accounts`. */
  readonly name: string;
  /** Name of the group in the SDK, such as `externalAccounts`. */
  readonly group: string;
  readonly title: string;
  /** The ID and the verb of each operation. */
  readonly operations: readonly (readonly [id: string, verb: string])[];
}

export interface Field {
  /** Path in the body, such as `source.accountId`, or name of a query parameter. */
  readonly path: string;
  /** Name of the flag without leading hyphens, such as `source.account-id`. */
  readonly flag: string;
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'json' | 'file';
  readonly text?: string;
  readonly values?: readonly string[];
  readonly required?: boolean;
  /** An object with flags for its fields. */
  readonly nested?: boolean;
}

export interface Example {
  readonly name: string;
  readonly summary?: string;
  readonly value: unknown;
}

export interface Operation {
  readonly id: string;
  readonly verb: string;
  readonly method: string;
  readonly route: string;
  readonly summary: string;
  readonly text: string;
  readonly params: readonly { name: string; text?: string; example?: string }[];
  readonly query: readonly Field[];
  readonly body?: {
    readonly kind: 'json' | 'form';
    readonly required: boolean;
    readonly fields: readonly Field[];
    readonly examples: readonly Example[];
  };
  readonly isList?: boolean;
  readonly isOfAgent?: boolean;
  /** Accepts an `Idempotency-Key`. */
  readonly hasKey?: boolean;
  /** Accepts a signature of the owner of a wallet. */
  readonly isSignable?: boolean;
}

interface Index {
  readonly apiDate: string;
  readonly resources: readonly Resource[];
  readonly events: readonly string[];
  /** Description of each built-in set of sandbox fixtures (`world` in the API), by its name. */
  readonly worlds: Readonly<Record<string, string>>;
}

/** Possible folders of the metadata: of the bundle, of its chunks, and of the sources. */
const FOLDERS = ['./api/', '../api/', '../../dist/api/'].map(
  (each) => new URL(each, import.meta.url),
);

function read(name: string): unknown {
  const folder = FOLDERS.find((each) => existsSync(new URL('index.json', each)));
  if (!folder) throw new Error('dist/api is absent. Install the package again.');
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
}

const index = read('index') as Index;

export const API_DATE = index.apiDate;
export const RESOURCES = index.resources;
export const EVENT_TYPES = index.events;
export const WORLDS = index.worlds;
export const OPERATION_IDS: readonly string[] = RESOURCES.flatMap(({ operations }) =>
  operations.map(([id]) => id),
);

export const operationsOf = ({ name }: Resource): readonly Operation[] =>
  read(name) as readonly Operation[];

/** The resource to which an operation belongs. */
export const resourceOf = (operationId: string): Resource | undefined =>
  RESOURCES.find(({ operations }) => operations.some(([id]) => id === operationId));
