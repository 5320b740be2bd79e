// Cache of providers and routes. Each process reads providers and routes from the database every 500 ms. A
// change is therefore effective in all processes within a second, without a restart.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { ProviderPort, ProviderProtocol } from '../../connectors/ports/providers/port.ts';
import { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import { ReportedRates } from '../../connectors/ports/providers/services.ts';
import { fieldErrors } from '../../kernel/contract/validate.ts';
import type { SignatureKey } from '../../kernel/crypto/http-signatures.ts';
import type { Effects, Time } from '../../kernel/effects.ts';
import type { Database } from '../../runtime/db/database.ts';
import type { Circuits } from '../../runtime/jobs/circuits.ts';
import type { Log } from '../../runtime/observability/log.ts';
import type { Vault } from '../../runtime/security/vault.ts';
import type { ProviderTerms } from './configuration/contract.ts';
import { termsOf } from './configuration/terms.ts';
import { type CallRecorder, createCallRecorder } from './health/recorder.ts';
import { keyContext } from './keys.ts';
import type { ProviderKeyRow, ProviderRouteRow, ProviderRow } from './store.ts';

const READ_EVERY_MS = 500;
/** Number of reads between two writes of the call counts. */
const READS_PER_FLUSH = 10;

export interface Provider {
  row: ProviderRow;
  /** Null until the first successful check, or if the stored capabilities are invalid. */
  capabilities: Capabilities | null;
  terms: ProviderTerms;
  port: ProviderPort;
  /** Keys that verify messages of the provider at `now`, by ID. */
  publicKeys(now: Time): ReadonlyMap<string, KeyObject>;
}

/** The latest read of providers and routes. */
interface ProviderSnapshot {
  providers: ReadonlyMap<string, Provider>;
  /** In order of priority. */
  routes: readonly ProviderRouteRow[];
}

export interface ProviderDirectory {
  current(): ProviderSnapshot;
  /** Reads without a delay. Called after a change by this process. */
  refresh(): Promise<void>;
  /** Whether the circuit breaker of a provider is open, so that calls fail without a request. */
  isUnavailable(providerId: string): boolean;
  /** Counts the calls of this process. */
  calls: CallRecorder;
  start(): void;
  /** Stops reading and stores the call counts. */
  stop(): Promise<void>;
}

interface DirectoryOptions {
  db: Pick<Database, 'query'>;
  effects: Effects;
  vault: Pick<Vault, 'openOwn'>;
  circuits: Circuits;
  protocol: ProviderProtocol;
  log: Log;
}

const ROWS = {
  providers: 'select * from providers order by id',
  keys: 'select * from provider_keys order by created_at, id',
  routes: 'select * from provider_routes order by priority, created_at, id',
};

const isUsable = ({ active_from, retired_at }: ProviderKeyRow, now: Time) =>
  active_from <= now && (retired_at === null || retired_at > now);

/** Null if the capabilities were stored by another version of the server and are invalid in this version. */
function capabilitiesOf({ capabilities }: ProviderRow): Capabilities | null {
  if (capabilities === null) return null;
  const value = JSON.parse(capabilities) as Capabilities;
  return fieldErrors(Capabilities, value, 'body').length === 0 ? value : null;
}

/**
 * The rates that a message reported, or null if another version stored them and they are invalid in this
 * version.
 */
function reportedRatesOf({ rates }: ProviderRow): ReportedRates | null {
  if (rates === null) return null;
  const value = JSON.parse(rates) as ReportedRates;
  return fieldErrors(ReportedRates, value, 'body').length === 0 ? value : null;
}

/** A value that changes with the provider or one of its keys. */
const versionOf = (row: ProviderRow, keys: readonly ProviderKeyRow[]): string =>
  [row.version, ...keys.map((each) => `${each.id} ${each.version}`)].join();

/** Name of the circuit breaker of a provider. */
const circuitName = (providerId: string) => `provider ${providerId}`;

/** Reads the providers once. `start` begins to read them periodically. */
export async function openProviderDirectory(options: DirectoryOptions): Promise<ProviderDirectory> {
  const { db, effects, vault, circuits, protocol, log } = options;
  const calls = createCallRecorder(effects, db);
  const openedKeys = new Map<string, KeyObject>();
  const providersById = new Map<string, { version: string; provider: Provider }>();
  let snapshot: ProviderSnapshot = { providers: new Map(), routes: [] };
  let pendingRead: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;
  let readCount = 0;

  function keyOf(row: ProviderKeyRow): KeyObject {
    const openedKey = openedKeys.get(row.id);
    if (openedKey) return openedKey;
    const key =
      row.private_key === null
        ? createPublicKey(row.public_key)
        : createPrivateKey({
            key: vault.openOwn(row.private_key, keyContext(row.id)),
            format: 'der',
            type: 'pkcs8',
          });
    openedKeys.set(row.id, key);
    return key;
  }

  /** The newest active signing key. */
  function signingKeyOf(providerId: string, rows: readonly ProviderKeyRow[]): SignatureKey {
    const now = effects.now();
    const row = rows.findLast((each) => each.side === 'OWN' && isUsable(each, now));
    if (!row) throw new Error(`the provider ${providerId} has no active signing key`);
    return { keyId: row.id, privateKey: keyOf(row) };
  }

  /** Returns the existing object of an unchanged provider, because its port is stateful. */
  function providerOf(row: ProviderRow, keys: readonly ProviderKeyRow[]): Provider {
    const providerKeys = keys.filter((key) => key.provider_id === row.id);
    const version = versionOf(row, providerKeys);
    const connectedProvider = providersById.get(row.id);
    if (connectedProvider?.version === version) return connectedProvider.provider;
    const provider = connect(row, providerKeys);
    providersById.set(row.id, { version, provider });
    return provider;
  }

  function connect(row: ProviderRow, keys: readonly ProviderKeyRow[]): Provider {
    const address = { url: row.url, isPrivateAllowed: row.private_address };
    const guardedEffects = circuits.effects(effects, circuitName(row.id));
    return {
      row,
      capabilities: capabilitiesOf(row),
      terms: termsOf(row),
      port: protocol.connect(guardedEffects, {
        ...{ name: row.id, address, reportedRates: reportedRatesOf(row) },
        keyOf: () => signingKeyOf(row.id, keys),
        observe: (call) => calls.observe(row.id, call),
      }),
      publicKeys: (now) =>
        new Map(
          keys
            .filter((key) => key.side === 'PROVIDER' && isUsable(key, now))
            .map((key) => [key.id, keyOf(key)]),
        ),
    };
  }

  async function read(): Promise<void> {
    const rows = await db.query<ProviderRow>(ROWS.providers, []);
    if (rows.length === 0 && snapshot.providers.size === 0 && snapshot.routes.length === 0) return;
    const [keys, routes] = await Promise.all([
      db.query<ProviderKeyRow>(ROWS.keys, []),
      db.query<ProviderRouteRow>(ROWS.routes, []),
    ]);
    snapshot = {
      providers: new Map(rows.map((row) => [row.id, providerOf(row, keys)])),
      routes,
    };
  }

  function refresh(): Promise<void> {
    pendingRead ??= read().finally(() => {
      pendingRead = undefined;
    });
    return pendingRead;
  }

  async function poll(): Promise<void> {
    try {
      await refresh();
      if (++readCount % READS_PER_FLUSH === 0) await calls.flush();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, 'providers could not be read');
      isFailing = true;
    }
    if (timer) timer = setTimeout(poll, READ_EVERY_MS).unref();
  }

  await refresh();
  return {
    current: () => snapshot,
    async refresh() {
      // A read in progress may have started before the change.
      await pendingRead;
      await refresh();
    },
    isUnavailable: (providerId) => circuits.states().get(circuitName(providerId)) === 'open',
    calls,
    start() {
      timer = setTimeout(poll, READ_EVERY_MS).unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await calls
        .flush()
        .catch((error) => log.error({ err: error }, 'call counts could not be stored'));
    },
  };
}
