// The file of an archive contains compressed lines of JSON. Like every file, it is encrypted under
// its own key that the master key seals. A key encrypts one attempt only. The next attempt removes
// the object of an interrupted attempt.
import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import type { StoragePort } from '../../kernel/contract/upload.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { Queryable } from '../../runtime/db/partitions/partitions.ts';
import { streamRows } from '../../runtime/db/stream.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { KEY_BYTES } from '../../runtime/security/crypto.ts';
import { openContent, sealContent } from '../../runtime/security/sealed-stream.ts';
import { SOURCES } from './lines.ts';
import { type ArchiveRow, beginStoring, type Content, findArchive } from './store.ts';

export interface ArchiveDeps {
  runtime: Pick<Runtime, 'db' | 'effects' | 'vault'>;
  storage: StoragePort;
  databaseUrl: string;
}

/** Reading the first rows of a partition may sort all of them. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

export const archiveKeyContext = (id: string) => `archives ${id} file_key`;

/** Callback of a pipeline. The reader of the stream receives the error, so it is handled there. */
const ignoreError = () => undefined;

/** Text of all lines of a partition. `count` is called with the number of lines of each part. */
async function* archiveLines(
  { runtime, databaseUrl: url }: ArchiveDeps,
  { history, partition }: ArchiveRow,
  count: (lines: number) => void,
): AsyncGenerator<string> {
  const source = SOURCES[history];
  const options = { url, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  for await (const rows of streamRows<object>(options, source.sql(partition))) {
    const lines = await source.lines(runtime, rows);
    count(lines.length);
    yield lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
}

/** Stores the rows of a detached partition in a new object. */
export async function storeArchive(
  deps: ArchiveDeps,
  db: Queryable,
  archive: ArchiveRow,
): Promise<Content> {
  const { runtime, storage } = deps;
  const { effects, vault } = runtime;
  if (archive.object !== null) await storage.remove(archive.object);
  const object = uuid7(effects);
  const key = effects.random(KEY_BYTES);
  await beginStoring(db, archive.id, object, vault.sealOwn(key, archiveKeyContext(archive.id)));
  const hash = createHash('sha256');
  let [rows, bytes] = [0, 0];
  const lines = archiveLines(deps, archive, (count) => {
    rows += count;
  });
  // The partition is read lazily, when the storage requests the first byte.
  async function* compressAndMeasure(): AsyncGenerator<Uint8Array> {
    const text = Readable.from(lines, { objectMode: false });
    const compressedContent = pipeline(text, createGzip(), ignoreError);
    for await (const chunk of compressedContent as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }
  await storage.put(object, sealContent(key, archive.id, compressAndMeasure()));
  return { rows, bytes, sha256: hash.digest('hex') };
}

/** An archive whose file exists. Throws NOT_FOUND, and CONFLICT if the archive has no file. */
async function requireStoredArchive({ runtime }: ArchiveDeps, id: string) {
  const archive = await findArchive(runtime.db, id);
  if (!archive) throw new Fault('NOT_FOUND', 'Archive not found.');
  const { state, object, file_key: sealedKey } = archive;
  if (state !== 'STORED' || object === null || sealedKey === null) {
    throw new Fault('CONFLICT', `The archive is ${state}. It has no file.`);
  }
  return { object, bytes: Number(archive.bytes), sealed: sealedKey };
}

/** The compressed content from the byte offset `from`. Throws NOT_FOUND and CONFLICT. */
async function contentOf(deps: ArchiveDeps, id: string, from = 0) {
  const { object, sealed } = await requireStoredArchive(deps, id);
  const key = deps.runtime.vault.openOwn(sealed, archiveKeyContext(id));
  const readFrom = (offset: number) => deps.storage.get(object, offset);
  return openContent(key, id, readFrom, from);
}

/** The lines of an archive as text, in parts. Throws NOT_FOUND and CONFLICT. */
export async function archiveText(deps: ArchiveDeps, id: string): Promise<AsyncIterable<string>> {
  const content = await contentOf(deps, id);
  const text = pipeline(Readable.from(content), createGunzip(), ignoreError);
  return text.setEncoding('utf8');
}

/** Maximum size of a part of an archive in a reply. */
const PART_BYTES = 1_048_576;

/**
 * A part of the compressed content. Throws NOT_FOUND, CONFLICT, and INVALID_INPUT if `from` exceeds the
 * size.
 */
export async function archivePart(deps: ArchiveDeps, id: string, from: number) {
  const { bytes } = await requireStoredArchive(deps, id);
  if (from > bytes) throw invalidField('from', `must be at most ${bytes}`);
  const content = await contentOf(deps, id, from);
  const end = Math.min(from + PART_BYTES, bytes);
  const chunks: Buffer[] = [];
  let position = from;
  for await (const chunk of content) {
    // A chunk is valid only until the next chunk is requested, so its bytes are copied.
    chunks.push(Buffer.from(chunk.subarray(0, end - position)));
    position += chunk.length;
    if (position >= end) break;
  }
  return { content: Buffer.concat(chunks), bytes, next: end < bytes ? end : null };
}
