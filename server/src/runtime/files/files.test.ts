// Files with a real database and a real folder. Attached files are retained, and all other files are
// removed, including after failures.
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { folderStorage } from '../../connectors/folder/storage.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import type { UploadedFile } from '../../kernel/contract/upload.ts';
import { attachFile, createFiles, deleteFile, fileJobs, fileSweep, files } from './files.ts';

const app = testApp();
beforeEach(async () => {
  await app.advance(2 * 3_600_000);
});

const HOUR_MS = 3_600_000;
const caller = () => systemCaller(app.platform.id, 'sandbox');
const listStorage = (): string[] => {
  try {
    return readdirSync(app.filesFolder).sort();
  } catch {
    return [];
  }
};
const objectOf = ({ id }: { id: string }) => id.replace('File:', '');
const rowOf = ({ id }: { id: string }) => app.runtime.db.read(files, id);

async function* bytes(...chunks: (string | Buffer)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
const putFile = (content = 'hello', overrides = {}): Promise<UploadedFile> =>
  app.files.put(caller(), bytes(content), { maxBytes: 1_000_000, fileName: 'a.pdf', ...overrides });
const attach = (file: UploadedFile) => app.operate((ctx) => attachFile(ctx, file));

describe('a file', () => {
  it('is measured, hashed, inspected and sealed', async () => {
    const inspectedChunks: Buffer[] = [];
    const inspect = () => ({
      write: (chunk: Uint8Array) => void inspectedChunks.push(Buffer.from(chunk)),
      end: () => 'looks fine',
    });
    const file = await putFile('hello', { inspect });
    expect(file).toMatchObject({
      ...{ fileName: 'a.pdf', size: 5, findings: 'looks fine' },
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    });
    expect(Buffer.concat(inspectedChunks).toString()).toBe('hello');
    const storedPath = path.join(app.filesFolder, objectOf(file));
    expect(readFileSync(storedPath).includes('hello')).toBe(false);
    expect(statSync(storedPath).mode & 0o777).toBe(0o600);
    expect(statSync(app.filesFolder).mode & 0o077).toBe(0);
    await attach(file);
    expect(await rowOf(file)).toMatchObject({ state: 'KEPT', size: 5n, sha256: file.sha256 });
    expect((await readAll(app.files.read(file))).toString()).toBe('hello');
    expect((await readAll(app.files.read(file, 2))).toString()).toBe('llo');
  });

  it('has a separate key', async () => {
    const [firstUploadedFile, secondUploadedFile] = [await putFile(), await putFile()];
    expect(Buffer.from(firstUploadedFile.key).equals(Buffer.from(secondUploadedFile.key))).toBe(
      false,
    );
    await expect(
      readAll(app.files.read({ id: firstUploadedFile.id, key: secondUploadedFile.key })),
    ).rejects.toThrow();
  });

  it('is rejected if storage truncated it', async () => {
    const file = await putFile('x'.repeat(200_000));
    truncateSync(path.join(app.filesFolder, objectOf(file)), 65_552);
    await expect(readAll(app.files.read(file))).rejects.toThrow(/cannot decrypt/);
  });

  it('remains after it is attached and is removed after its deletion', async () => {
    const file = await putFile();
    await attach(file);
    await app.advance(48 * HOUR_MS);
    expect(listStorage()).toContain(objectOf(file));
    await app.operate((ctx) => deleteFile(ctx, file.id));
    expect(listStorage()).toContain(objectOf(file));
    await app.settle();
    expect(listStorage()).not.toContain(objectOf(file));
    expect(await rowOf(file)).toBeUndefined();
    await app.operate((ctx) => deleteFile(ctx, file.id));
  });

  it('of another platform cannot be attached or deleted', async () => {
    const file = await putFile();
    const rejectedAttachment = app.operate((ctx) => attachFile(ctx, file), app.other);
    await expect(rejectedAttachment).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await attach(file);
    await app.operate((ctx) => deleteFile(ctx, file.id), app.other);
    expect(await rowOf(file)).toMatchObject({ state: 'KEPT' });
  });

  it('is not discarded once it is attached', async () => {
    const file = await putFile();
    await attach(file);
    await app.files.discard(caller(), file.id);
    await app.settle();
    expect((await readAll(app.files.read(file))).toString()).toBe('hello');
  });
});

describe('storage', () => {
  it('contains no part of a file that is too large', async () => {
    const source = bytes('12345', '67890', 'x');
    const upload = app.files.put(caller(), source, { maxBytes: 10 });
    await expect(upload).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { errors: [{ field: 'file', message: 'is larger than 10 bytes' }] },
    });
    await app.settle();
    expect(listStorage().filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(await app.runtime.db.find(files, { state: 'UPLOADING' })).toEqual([]);
  });

  it('contains no part of a file whose source fails', async () => {
    async function* brokenSource() {
      yield Buffer.alloc(100_000);
      throw new Error('the client has disconnected');
    }
    const objectsBefore = listStorage();
    await expect(app.files.put(caller(), brokenSource(), { maxBytes: 1e6 })).rejects.toThrow(
      'disconnected',
    );
    await app.settle();
    expect(listStorage()).toEqual(objectsBefore);
  });

  it('contains no discarded file', async () => {
    const file = await putFile();
    await app.files.discard(caller(), file.id);
    await app.settle();
    expect(listStorage()).not.toContain(objectOf(file));
    await expect(attach(file)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('contains no file whose process exits between upload and commit', async () => {
    const file = await putFile();
    expect(await rowOf(file)).toMatchObject({ state: 'UPLOADING' });
    // The process of the upload has exited. The file can be attached for an hour.
    await app.advance(HOUR_MS / 2);
    expect(listStorage()).toContain(objectOf(file));
    await app.advance(HOUR_MS);
    await app.advance(60_000);
    expect(listStorage()).not.toContain(objectOf(file));
    expect(await rowOf(file)).toBeUndefined();
  });

  it('contains no part of a file whose process exits during the upload', async () => {
    let reachPause = () => {};
    const pause = new Promise<void>((resolve) => {
      reachPause = resolve;
    });
    async function* endlessSource() {
      yield Buffer.alloc(200_000);
      reachPause();
      await new Promise(() => {});
    }
    const objectsBefore = listStorage();
    void app.files.put(caller(), endlessSource(), { maxBytes: 1e6 });
    await pause;
    await expect.poll(() => listStorage().length).toBe(objectsBefore.length + 1);
    const [row] = await app.runtime.db.find(files, { state: 'UPLOADING' });
    expect(row).toBeDefined();
    await app.advance(HOUR_MS);
    await app.advance(60_000);
    await app.advance(60_000);
    expect(listStorage()).toEqual(objectsBefore);
    expect(await app.runtime.db.find(files, { state: 'UPLOADING' })).toEqual([]);
  });

  it('contains no file after a failed upload that the client can retry', async () => {
    const originalStorage = folderStorage(app.filesFolder);
    const failingFiles = createFiles(app.runtime, {
      ...originalStorage,
      async put(name, source) {
        await originalStorage.put(name, source);
        throw new Error('no answer');
      },
    });
    const upload = failingFiles.put(caller(), bytes('hello'), { maxBytes: 10 });
    await expect(upload).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterS: 5 });
    const [row] = await app.runtime.db.find(files, { state: 'UPLOADING' });
    await app.advance(HOUR_MS);
    await app.advance(60_000);
    expect(await rowOf(row as { id: string })).toBeUndefined();
    expect(listStorage()).not.toContain(objectOf(row as { id: string }));
  });

  it('contains no file of a request that is slower than the sweep', async () => {
    const originalStorage = folderStorage(app.filesFolder);
    const slowFiles = createFiles(app.runtime, {
      ...originalStorage,
      async put(name, source) {
        await app.advance(HOUR_MS);
        await app.advance(60_000);
        await originalStorage.put(name, source);
      },
    });
    const file = await slowFiles.put(caller(), bytes('hello'), { maxBytes: 10 });
    await expect(attach(file)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(listStorage()).toContain(objectOf(file));
    await slowFiles.discard(caller(), file.id);
    expect(listStorage()).not.toContain(objectOf(file));
  });

  it('that does not respond is called by at most 32 jobs concurrently', async () => {
    const pendingRemovals: (() => void)[] = [];
    const remove = () => new Promise<void>((resolve) => pendingRemovals.push(resolve));
    const [job] = fileJobs({ storage: { ...folderStorage(app.filesFolder), remove } });
    const input = { file: 'File:none', platform: app.platform.id };
    const run = () => job?.run(app.runtime, { input } as never);
    const runs = Array.from({ length: 40 }, run);
    expect(pendingRemovals).toHaveLength(32);
    const lastResult = runs[39] && (await runs[39]);
    await app.operate(async (ctx) => {
      await lastResult?.stage(ctx);
      expect(ctx.set.inserts.map(({ row }) => row)).toMatchObject([
        { input, due_at: ctx.now + 5_000 },
      ]);
    });
    for (const finishRemoval of pendingRemovals) finishRemoval();
    await Promise.all(runs);
    void run();
    expect(pendingRemovals).toHaveLength(33);
  });

  it('contains no unused files after several rounds of the sweep', async () => {
    for (let index = 0; index < 12; index++)
      await app.files.put(caller(), bytes('x'), { maxBytes: 9 });
    const sweep = fileSweep();
    expect(await sweep.run(app.runtime)).toBe(0);
    app.effects.set(app.effects.now() + HOUR_MS + 60_000);
    expect(await sweep.run(app.runtime)).toBe(12);
    expect(await sweep.run(app.runtime)).toBe(0);
    await app.settle();
    expect(await app.runtime.db.find(files, { state: 'GONE' })).toEqual([]);
  });
});
