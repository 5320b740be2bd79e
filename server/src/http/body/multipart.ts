// Reads a multipart/form-data body. Text fields are kept in memory, and the file is passed to
// storage at the speed of storage, with one chunk in memory. Errors of all parts are collected for
// one reply. A body that is malformed, too long or too slow is rejected immediately.
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { UploadedFile } from '../../kernel/contract/upload.ts';
import { Fault, type FieldError, invalid } from '../../kernel/fault.ts';

const MAX_FIELDS = 20;
/** Maximum bytes of a text field. */
const MAX_FIELD_BYTES = 10_240;
/** Maximum characters of a field name. */
const MAX_FIELD_NAME_LENGTH = 100;
const MAX_FILE_NAME_LENGTH = 255;
const MAX_PART_HEADER_BYTES = 8_192;
/** Maximum bytes of a body without its file. */
export const MAX_OVERHEAD = 262_144;
/**
 * Maximum characters of the Content-Type header. A boundary has at most 70 characters. A longer
 * boundary costs time for every byte.
 */
const MAX_CONTENT_TYPE_LENGTH = 200;

/** Timeouts of an upload: in total, and without data. */
const MAX_TOTAL_MS = 600_000;
const MAX_IDLE_MS = 30_000;
const SWEEP_INTERVAL_MS = 1_000;
const TOO_SLOW =
  `The body took too long to arrive. Send it within ${MAX_TOTAL_MS / 1_000} s, ` +
  `without a pause of ${MAX_IDLE_MS / 1_000} s.`;

export interface Form {
  fields: Record<string, string>;
  file?: UploadedFile;
  errors: FieldError[];
}

interface FormOptions {
  contentType: string | undefined;
  /** Limit of the complete body. A longer body is not read completely. */
  maxBytes: number;
  /** Called and awaited for each chunk. */
  throttle?: ((bytes: number) => Promise<void> | undefined) | undefined;
  /**
   * Field errors of the file are added to the other errors. Any other error rejects the request.
   */
  store(source: AsyncIterable<Uint8Array>, fileName: string): Promise<UploadedFile>;
}

const invalidInputFault = (reason: string) => new Fault('INVALID_INPUT', reason);
const malformedBodyFault = () =>
  invalidInputFault('The multipart body is malformed or incomplete.');

/** The last part of a path of any operating system, without control characters. */
function plainName(name: string): string {
  const baseName = name.split(/[/\\]/).at(-1) ?? '';
  return baseName.replaceAll(/\p{Cc}/gu, '').trim();
}

interface Parts {
  fields: Map<string, string>;
  errors: FieldError[];
  field(name: string | undefined, value: string, isTruncated: boolean): void;
  /** Whether this part is the expected file. */
  file(name: string | undefined, fileName: string): boolean;
}

/** Validates parts as they arrive. Each name is accepted once. */
function collectParts(): Parts {
  const fields = new Map<string, string>();
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const addError = (name: string, message: string) => {
    const field = name.slice(0, MAX_FIELD_NAME_LENGTH);
    if (!errors.some((error) => error.field === field)) errors.push({ field, message });
    return false;
  };
  const isNew = (name: string | undefined): name is string => {
    if (name === undefined || name === '') return addError('', 'A part of the body has no name.');
    if (name.length > MAX_FIELD_NAME_LENGTH)
      return addError(name, `must have a name of at most ${MAX_FIELD_NAME_LENGTH} characters`);
    if (name.includes('\0'))
      return addError(name.replaceAll('\0', ''), 'must not have a NUL character in its name');
    if (names.has(name)) return addError(name, 'must not be repeated');
    names.add(name);
    return true;
  };
  return {
    fields,
    errors,
    field(name, value, isTruncated) {
      if (!isNew(name)) return;
      if (name === 'file') addError(name, 'must be a file');
      else if (isTruncated) addError(name, `must not be longer than ${MAX_FIELD_BYTES} bytes`);
      else if (value.includes('\0')) addError(name, 'must not contain a NUL character');
      fields.set(name, value);
    },
    file(name, fileName) {
      if (!isNew(name)) return false;
      if (name !== 'file') return addError(name, 'must not be a file');
      if (fileName.length <= MAX_FILE_NAME_LENGTH) return true;
      return addError(name, `must have a file name of at most ${MAX_FILE_NAME_LENGTH} characters`);
    },
  };
}

function parserFor(contentType: string | undefined) {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')) {
    throw invalidInputFault('The body must be multipart/form-data.');
  }
  if (contentType && contentType.length > MAX_CONTENT_TYPE_LENGTH) {
    throw invalidInputFault(
      `The Content-Type header is longer than ${MAX_CONTENT_TYPE_LENGTH} characters.`,
    );
  }
  const limits = { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, parts: MAX_FIELDS + 5 };
  const headers = { 'content-type': contentType as string };
  try {
    return new Busboy({
      headers,
      limits: { ...limits, headerSize: MAX_PART_HEADER_BYTES, headerPairs: 20 },
    });
  } catch {
    throw invalidInputFault('The multipart body has no boundary.');
  }
}

/** Rejects after the total time, or without data for too long. */
function createTimeouts() {
  const startedMs = performance.now();
  let lastDataMs = startedMs;
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const now = performance.now();
      if (now - startedMs < MAX_TOTAL_MS && now - lastDataMs < MAX_IDLE_MS) return;
      reject(invalidInputFault(TOO_SLOW));
    }, SWEEP_INTERVAL_MS);
  });
  return {
    spent: expiry,
    /** Data arrived. The time of its processing is not counted. */
    received() {
      lastDataMs = Infinity;
    },
    waiting() {
      lastDataMs = performance.now();
    },
    end: () => clearInterval(timer),
  };
}

/** The chunks of a body. An early end is an error of the client. */
async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch {
    throw malformedBodyFault();
  }
}

/**
 * Processes the parts of the parser. `failed` rejects if the remaining parts cannot be processed.
 */
function processParts(parser: BusboyInstance, parts: Parts, store: FormOptions['store']) {
  let storage: Promise<UploadedFile | undefined> = Promise.resolve(undefined);
  let currentFile: BusboyFileStream | undefined;
  const failure = new Promise<never>((_, reject) => {
    const storeFile = async (stream: BusboyFileStream, fileName: string) => {
      try {
        return await store(stream.iterator({ destroyOnReturn: false }), fileName);
      } catch (error) {
        const errors = error instanceof Fault ? error.details?.errors : undefined;
        if (Array.isArray(errors)) parts.errors.push(...(errors as FieldError[]));
        else reject(error);
        return undefined;
      } finally {
        // Skipped parts must be consumed, or the remaining body would never arrive.
        stream.resume();
      }
    };
    parser.on('field', (name, value, _isNameTruncated, isTruncated) =>
      parts.field(name, value, isTruncated),
    );
    parser.on('file', (name, stream, sentName) => {
      const fileName = plainName(sentName ?? '');
      stream.on('error', () => reject(malformedBodyFault()));
      if (!parts.file(name, fileName)) return void stream.resume();
      currentFile = stream;
      storage = storeFile(stream, fileName || 'file');
    });
    const rejectExcess = () =>
      reject(invalidInputFault(`The body has more than ${MAX_FIELDS} fields.`));
    parser.on('fieldsLimit', rejectExcess);
    parser.on('partsLimit', rejectExcess);
    parser.on('error', () => reject(malformedBodyFault()));
  });
  return {
    failed: failure,
    stored: () => storage,
    /** Aborts a file in progress and waits for storage. */
    async abandon() {
      currentFile?.destroy(new Error('the body is incomplete'));
      await storage;
    },
  };
}

/** Reads the form of one request. After a fault, part of the body may be unread. */
export async function readForm(body: Readable, options: FormOptions): Promise<Form> {
  const parser = parserFor(options.contentType);
  const parts = collectParts();
  const processor = processParts(parser, parts, options.store);
  const timeouts = createTimeouts();
  const finishPromise = new Promise<void>((resolve) => void parser.once('finish', resolve));
  const write = (chunk: Buffer) =>
    new Promise<void>((resolve) => void parser.write(chunk, () => resolve()));
  let remainingBytes = options.maxBytes;
  let hasEnded = false;

  async function feed(): Promise<UploadedFile | undefined> {
    for await (const chunk of chunksOf(body)) {
      // Returning here releases the body for another consumer.
      if (hasEnded) return undefined;
      timeouts.received();
      remainingBytes -= chunk.length;
      if (remainingBytes < 0)
        throw invalidInputFault(`The body is larger than ${options.maxBytes} bytes.`);
      await options.throttle?.(chunk.length);
      await write(chunk);
      timeouts.waiting();
    }
    // The body is complete. Storage has a separate timeout.
    timeouts.end();
    parser.end();
    await finishPromise;
    return processor.stored();
  }

  try {
    // A single race for all chunks, because a pending race keeps its participants in memory.
    const file = await Promise.race([feed(), processor.failed, timeouts.spent]);
    const fields = Object.fromEntries(parts.fields);
    return { fields, errors: parts.errors, ...(file ? { file } : {}) };
  } catch (error) {
    hasEnded = true;
    await processor.abandon();
    // If the body is oversized, errors of its parts are reported instead.
    throw remainingBytes < 0 && parts.errors.length > 0 ? invalid(parts.errors) : error;
  } finally {
    timeouts.end();
  }
}
