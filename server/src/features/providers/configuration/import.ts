// Imports providers and routes from one file. The complete file is validated, compared with the stored
// rows, and applied in one commit. A second import of the same file therefore has no effect. The file
// contains no secrets, because the import generates the signing keys of the installation.
import { type FieldError, invalid } from '../../../kernel/fault.ts';
import { readUrl } from '../../../kernel/net/url.ts';
import { type Ctx, createContext } from '../../../runtime/operation/context.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { DEFAULT_OVERLAP_HOURS, HOUR_MS } from '../../../runtime/security/key-rotation.ts';
import { keyIdOf } from '../../../runtime/security/keys.ts';
import { INSTALLATION } from '../../tenancy/platform/index.ts';
import { ed25519Key, insertProviderKey } from '../keys.ts';
import {
  isActive,
  type ManagerDeps,
  normalizedUrl,
  retireBy,
  stageProvider,
  urlProblem,
} from '../manage.ts';
import { routeErrors, routeRow } from '../manage-routes.ts';
import { routeFields } from '../present.ts';
import { type ProviderRow, providerKeys, providerRoutes, providers } from '../store.ts';
import type { FileProvider, FileRoute, ProviderFile } from './contract.ts';
import { termsErrors, termsOf } from './terms.ts';

/** One difference between the file and the stored providers, keys and routes. */
export interface FileChange {
  action: 'ADD' | 'CHANGE' | 'REMOVE';
  subject: 'PROVIDER' | 'KEY' | 'ROUTE';
  /** Name of the provider, ID of the key, or the fields of the route. */
  id: string;
  /** The field that changes. Absent for ADD and REMOVE. */
  field?: string;
  before?: string;
  after?: string;
}

interface StoredRows {
  providers: ReadonlyMap<string, ProviderRow>;
  keys: Awaited<ReturnType<typeof readKeys>>;
  routes: Awaited<ReturnType<typeof readRoutes>>;
}

const readKeys = ({ db }: Pick<Ctx, 'db'>) => db.find(providerKeys, { side: 'PROVIDER' });
const readRoutes = ({ db }: Pick<Ctx, 'db'>) => db.find(providerRoutes, {});

const withPrefix = (path: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map((error) => ({ ...error, field: `${path}.${error.field}` }));

const repeatedError = (field: string): FieldError => ({
  field,
  message: 'repeats an earlier entry of the file',
});

function keyErrors({ publicKeys }: FileProvider): FieldError[] {
  const keys = publicKeys.map(ed25519Key);
  return keys.flatMap((key, index) => {
    const field = `publicKeys.${index}`;
    if ('problem' in key) return [{ field, message: key.problem }];
    const isRepeated = keys.findIndex((each) => 'pem' in each && each.pem === key.pem) < index;
    return isRepeated ? [repeatedError(field)] : [];
  });
}

function providerErrors(provider: FileProvider, storedRow: ProviderRow | undefined): FieldError[] {
  const { url, privateAddressAllowed = false, environment, terms = {} } = provider;
  const problem = urlProblem(readUrl(url), privateAddressAllowed);
  const isEnvironmentChanged = storedRow !== undefined && storedRow.environment !== environment;
  return [
    ...(problem === null ? [] : [{ field: 'url', message: problem }]),
    ...(isEnvironmentChanged
      ? [
          {
            field: 'environment',
            message: `must be ${storedRow.environment}, because the environment of a provider cannot change`,
          },
        ]
      : []),
    ...keyErrors(provider),
    ...withPrefix('terms', termsErrors(terms)),
  ];
}

/** A key can belong to one provider only, as long as its row exists. */
function usedKeyErrors(file: ProviderFile, { keys }: StoredRows): FieldError[] {
  const owners = new Map(keys.map((each) => [each.id, each.provider_id]));
  const errors: FieldError[] = [];
  for (const [index, { providerId, publicKeys }] of (file.providers ?? []).entries()) {
    for (const [position, text] of publicKeys.entries()) {
      const key = ed25519Key(text);
      if ('problem' in key) continue;
      const id = keyIdOf(key.pem);
      const owner = owners.get(id) ?? providerId;
      const field = `providers.${index}.publicKeys.${position}`;
      if (owner !== providerId) {
        errors.push({
          field,
          message: `is a key of the provider ${owner}. Use another key`,
        });
      }
      owners.set(id, owner);
    }
  }
  return errors;
}

function routeFileErrors(
  route: FileRoute,
  environments: ReadonlyMap<string, string>,
): FieldError[] {
  const errors = routeErrors(route);
  if (route.providerId === null) return errors;
  const environment = environments.get(route.providerId);
  if (environment === undefined) {
    return [
      ...errors,
      { field: 'providerId', message: 'must be a provider of the file or an existing provider' },
    ];
  }
  if (environment === route.environment) return errors;
  return [
    ...errors,
    { field: 'environment', message: `must be ${environment}, the environment of the provider` },
  ];
}

/** The identity of a route: its fields in a fixed order, without costs of 0. */
const routeIdentity = (route: Record<string, unknown>): string =>
  JSON.stringify(
    Object.entries(route)
      .filter(([name, value]) => value !== undefined && !(name.startsWith('cost') && value === 0))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** A route in one line. */
const describeRoute = (route: Record<string, unknown>): string =>
  Object.entries(route)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value ?? 'built-in'}`)
    .join(' ');

/** Every error of a file that matches the schema, by its path. */
function fileErrors(file: ProviderFile, storedRows: StoredRows): FieldError[] {
  const { providers: fileProviders = [], routes = [] } = file;
  const environments = new Map<string, string>([
    ...[...storedRows.providers.values()].map((row) => [row.id, row.environment] as const),
    ...fileProviders.map((each) => [each.providerId, each.environment] as const),
  ]);
  const names = fileProviders.map(({ providerId }) => providerId);
  const identities = routes.map(routeIdentity);
  return [
    ...fileProviders.flatMap((provider, index) => [
      ...(names.indexOf(provider.providerId) < index
        ? [repeatedError(`providers.${index}.providerId`)]
        : []),
      ...withPrefix(
        `providers.${index}`,
        providerErrors(provider, storedRows.providers.get(provider.providerId)),
      ),
    ]),
    ...usedKeyErrors(file, storedRows),
    ...routes.flatMap((route, index) => [
      ...(identities.indexOf(identities[index] ?? '') < index
        ? [repeatedError(`routes.${index}`)]
        : []),
      ...withPrefix(`routes.${index}`, routeFileErrors(route, environments)),
    ]),
  ];
}

const pemOf = (text: string): string => {
  const key = ed25519Key(text);
  if ('problem' in key) throw new Error(key.problem);
  return key.pem;
};

function stageProviderChange(
  ctx: Ctx,
  provider: FileProvider,
  row: ProviderRow,
  keys: StoredRows['keys'],
): FileChange[] {
  const { providerId: id, privateAddressAllowed = false, terms = {} } = provider;
  const changes: FileChange[] = [];
  const compare = (field: string, before: string, after: string) => {
    if (before === after) return;
    changes.push({ action: 'CHANGE', subject: 'PROVIDER', id, field, before, after });
  };
  compare('url', row.url, normalizedUrl(provider.url));
  compare('privateAddressAllowed', `${row.private_address}`, `${privateAddressAllowed}`);
  compare('terms', JSON.stringify(termsOf(row)), JSON.stringify(terms));
  if (changes.length > 0) {
    ctx.update(providers, row, {
      url: normalizedUrl(provider.url),
      private_address: privateAddressAllowed,
      terms: JSON.stringify(terms),
      updated_at: ctx.now,
    });
  }
  const pems = provider.publicKeys.map(pemOf);
  const storedKeys = keys.filter((each) => each.provider_id === id);
  for (const pem of pems) {
    const storedKey = storedKeys.find((each) => each.public_key === pem);
    if (storedKey && storedKey.retired_at === null) continue;
    if (storedKey) ctx.update(providerKeys, storedKey, { retired_at: null });
    else insertProviderKey(ctx, id, pem);
    changes.push({ action: 'ADD', subject: 'KEY', id: keyIdOf(pem) });
  }
  const unlistedKeys = storedKeys.filter(
    (each) => each.retired_at === null && !pems.includes(each.public_key),
  );
  retireBy(ctx, unlistedKeys, ctx.now + DEFAULT_OVERLAP_HOURS * HOUR_MS);
  const keyRemovals = unlistedKeys.map(
    (each): FileChange => ({ action: 'REMOVE', subject: 'KEY', id: each.id }),
  );
  return [...changes, ...keyRemovals];
}

function stageProviders(ctx: Ctx, file: ProviderFile, storedRows: StoredRows): FileChange[] {
  return (file.providers ?? []).flatMap((fileProvider): FileChange[] => {
    const row = storedRows.providers.get(fileProvider.providerId);
    if (row) return stageProviderChange(ctx, fileProvider, row, storedRows.keys);
    stageProvider(ctx, fileProvider, fileProvider.publicKeys.map(pemOf));
    return [{ action: 'ADD', subject: 'PROVIDER', id: fileProvider.providerId }];
  });
}

function stageRoutes(ctx: Ctx, { routes }: ProviderFile, storedRows: StoredRows): FileChange[] {
  if (!routes) return [];
  const newRoutes = new Map(routes.map((each) => [routeIdentity(each), each]));
  const changes: FileChange[] = [];
  for (const row of storedRows.routes) {
    const fields = routeFields(row);
    // Stored routes can be repeated. The first route is kept and the others are removed.
    if (newRoutes.delete(routeIdentity(fields))) continue;
    ctx.remove(providerRoutes, row);
    changes.push({ action: 'REMOVE', subject: 'ROUTE', id: describeRoute(fields) });
  }
  for (const route of newRoutes.values()) {
    ctx.insert(providerRoutes, routeRow(ctx, route));
    changes.push({ action: 'ADD', subject: 'ROUTE', id: describeRoute({ ...route }) });
  }
  return changes;
}

/** Stages the differences. Throws INVALID_INPUT with every error. */
async function stageFile(ctx: Ctx, file: ProviderFile): Promise<FileChange[]> {
  const [rows, keys, routes] = await Promise.all([
    ctx.db.find(providers, {}),
    readKeys(ctx),
    readRoutes(ctx),
  ]);
  const storedRows = { providers: new Map(rows.map((row) => [row.id, row])), keys, routes };
  const errors = fileErrors(file, storedRows);
  if (errors.length > 0) throw invalid(errors);
  return [...stageProviders(ctx, file, storedRows), ...stageRoutes(ctx, file, storedRows)];
}

/**
 * Applies a file that matches the schema. A dry run only returns the changes. Throws INVALID_INPUT with the
 * path of every error.
 */
export async function importProviders(
  { runtime, directory }: ManagerDeps,
  file: ProviderFile,
  isDryRun: boolean,
): Promise<{ applied: boolean; changes: FileChange[] }> {
  if (isDryRun) {
    const time = await runtime.clocks.timeOf(INSTALLATION);
    const changes = await stageFile(createContext(runtime, INSTALLATION, time), file);
    return { applied: false, changes };
  }
  const changes = await operate(runtime, INSTALLATION, (ctx) => stageFile(ctx, file));
  await directory.refresh();
  return { applied: changes.length > 0, changes };
}

/** Providers and routes as a file whose import has no effect. An import rejects repeated routes. */
export async function exportProviders({ runtime }: ManagerDeps): Promise<ProviderFile> {
  const { db, effects } = runtime;
  const [rows, keys, routes] = await Promise.all([
    db.find(providers, {}),
    readKeys({ db }),
    readRoutes({ db }),
  ]);
  const now = effects.now();
  const orderedRoutes = [...routes].sort(
    (a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1),
  );
  return {
    providers: [...rows]
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((row) => ({
        providerId: row.id,
        environment: row.environment,
        url: row.url,
        privateAddressAllowed: row.private_address,
        publicKeys: keys
          .filter((each) => each.provider_id === row.id && isActive(each, now))
          .filter((each) => each.retired_at === null)
          .map((each) => each.public_key),
        terms: termsOf(row),
      })),
    routes: orderedRoutes.map(routeFields),
  };
}
