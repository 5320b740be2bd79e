// Files of multipart requests. Blobs and bytes are encoded once, so that a repeated request has the
// same body. A stream is sent while it is read and cannot be repeated.

type Bytes = Uint8Array | ArrayBuffer;
/** A web stream, a Node.js stream, or any other iterable of bytes. */
export type ByteStream = AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array>;
export type FileContent = Blob | Bytes | ByteStream;

/** A file: its content, or the content with a name and a media type. A `File` has both. */
export type FileInput =
  | FileContent
  | { readonly content: FileContent; readonly name?: string; readonly type?: string };

export interface EncodedBody {
  readonly body: Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>;
  readonly contentType: string;
  readonly isRepeatable: boolean;
}

interface NamedFile {
  content: FileContent;
  name: string;
  type: string;
}

const isBytes = (value: unknown): value is Bytes =>
  value instanceof Uint8Array || value instanceof ArrayBuffer;
const isStream = (value: unknown): value is ByteStream =>
  typeof value === 'object' &&
  value !== null &&
  (Symbol.asyncIterator in value || 'getReader' in value);
const isContent = (value: unknown): value is FileContent =>
  isBytes(value) || value instanceof Blob || isStream(value);

const DEFAULT_NAME = 'file';
const DEFAULT_TYPE = 'application/octet-stream';

function fileOf(value: unknown): NamedFile | undefined {
  if (isContent(value)) return fileOf({ content: value });
  const { content, name, type } = (value ?? {}) as Partial<NamedFile>;
  if (!isContent(content)) return undefined;
  const file = content as Partial<NamedFile>;
  return {
    content,
    name: name ?? (typeof file.name === 'string' ? file.name : DEFAULT_NAME),
    type: type ?? (content instanceof Blob && content.type ? content.type : DEFAULT_TYPE),
  };
}

const encoder = new TextEncoder();
const escapeName = (text: string) =>
  text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

async function* chunksOf(content: FileContent): AsyncIterable<Uint8Array> {
  if (content instanceof Uint8Array) return yield content;
  if (content instanceof ArrayBuffer) return yield new Uint8Array(content);
  if (content instanceof Blob) return yield new Uint8Array(await content.arrayBuffer());
  if (Symbol.asyncIterator in content) {
    for await (const chunk of content)
      yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
    return;
  }
  // Safari does not support async iteration of streams.
  const reader = (content as ReadableStream<Uint8Array>).getReader();
  try {
    for (let nextChunk = await reader.read(); !nextChunk.done; nextChunk = await reader.read())
      yield nextChunk.value;
  } finally {
    reader.releaseLock();
  }
}

async function* partsOf(fields: readonly [string, unknown][], boundary: string) {
  const disposition = (name: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
  for (const [name, value] of fields) {
    const file = fileOf(value);
    if (!file) {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      yield encoder.encode(`${disposition(name)}\r\n\r\n${text}\r\n`);
      continue;
    }
    const head = `; filename="${escapeName(file.name)}"\r\nContent-Type: ${file.type}\r\n\r\n`;
    yield encoder.encode(`${disposition(name)}${head}`);
    yield* chunksOf(file.content);
    yield encoder.encode('\r\n');
  }
  yield encoder.encode(`--${boundary}--\r\n`);
}

async function joinChunks(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const allChunks: Uint8Array[] = [];
  for await (const chunk of chunks) allChunks.push(chunk);
  const bytes = new Uint8Array(allChunks.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const chunk of allChunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

/** Encodes a form. Files follow the fields, because the server reads the fields first. */
export async function encodeForm(form: Readonly<Record<string, unknown>>): Promise<EncodedBody> {
  const presentFields = Object.entries(form).filter(([, value]) => value !== undefined);
  const isFile = ([, value]: [string, unknown]) => fileOf(value) !== undefined;
  const fields = [
    ...presentFields.filter((each) => !isFile(each)),
    ...presentFields.filter(isFile),
  ];
  const boundary = `railhead-${crypto.randomUUID()}`;
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const isRepeatable = !presentFields.some(([, value]) => {
    const content = fileOf(value)?.content;
    return isStream(content) && !(content instanceof Blob) && !isBytes(content);
  });
  const parts = partsOf(fields, boundary);
  const body = isRepeatable ? await joinChunks(parts) : streamOf(parts);
  return { body, contentType, isRepeatable };
}
