// Compares the master key with the keys in the database before any write. The check runs before migrations,
// and before a missing key file is replaced by a new key.
import { connectDatabase } from '../db/connections/connect.ts';
import { open } from './crypto.ts';
import { type DataKeyRow, masterKeyId, unwrapKey } from './data-keys.ts';
import { masterKeyError, masterKeyIn } from './master-key.ts';

interface StoredKeys {
  dataKeys: Pick<DataKeyRow, 'number' | 'master_key' | 'sealed'>[];
  /** A private key that signs webhooks, which every installation has after its first start. */
  signingKey: { id: string; private_key: string } | undefined;
}

async function readStoredKeys(url: string): Promise<StoredKeys> {
  const client = await connectDatabase(url, { name: 'railhead key check' });
  const rowsOf = async <R extends object>(table: string, text: string): Promise<R[]> => {
    const result = await client.query('select to_regclass($1) is not null as exists', [table]);
    return result.rows[0]?.exists ? (await client.query<R>(text)).rows : [];
  };
  try {
    const dataKeys = await rowsOf<StoredKeys['dataKeys'][0]>(
      'data_keys',
      'select number, master_key, sealed from data_keys',
    );
    const [signingKey] = await rowsOf<{ id: string; private_key: string }>(
      'signing_keys',
      'select id, private_key from signing_keys limit 1',
    );
    return { dataKeys, signingKey };
  } finally {
    await client.end();
  }
}

const NOTHING_WRITTEN = 'Nothing was written.';

function assertOpens(masterKey: Uint8Array, { dataKeys, signingKey }: StoredKeys): void {
  if (dataKeys.length > 0) {
    const id = masterKeyId(masterKey);
    const matchingRows = dataKeys.filter((row) => row.master_key === id);
    const otherIds = [...new Set(dataKeys.map((row) => row.master_key))].join(', ');
    if (matchingRows.length === 0) {
      throw masterKeyError(
        `The master key ${id} does not open this database. Configure one of these keys: ` +
          `${otherIds}. ${NOTHING_WRITTEN}`,
      );
    }
    for (const row of matchingRows) unwrapKey(masterKey, row);
    return;
  }
  if (!signingKey) return;
  try {
    open(masterKey, signingKey.private_key, `signing_keys ${signingKey.id}`);
  } catch (cause) {
    throw masterKeyError(
      `This database was sealed with another master key. Configure that key. ${NOTHING_WRITTEN}`,
      cause,
    );
  }
}

/**
 * Throws MasterKeyError if `masterKey` is missing or does not open the keys in the database. In an
 * empty database, every key is accepted, and no key is required.
 */
export async function assertMasterKey(
  url: string,
  masterKey: Uint8Array | undefined,
): Promise<void> {
  const keys = await readStoredKeys(url);
  if (masterKey) return assertOpens(masterKey, keys);
  if (keys.dataKeys.length === 0 && !keys.signingKey) return;
  throw masterKeyError(
    `The master key of this database is missing. Restore it. ${NOTHING_WRITTEN}`,
  );
}

/** The master key of this installation, which is generated in the data folder for an empty database. */
export async function masterKeyFor(
  url: string,
  masterKey: Uint8Array | undefined,
  ...folderAndEffects: Parameters<typeof masterKeyIn>
): Promise<Uint8Array> {
  await assertMasterKey(url, masterKey);
  return masterKey ?? masterKeyIn(...folderAndEffects);
}
