// A file that a client sends with a request, and the storage port for such files. The body of a contract
// with `upload` is multipart/form-data, with text fields and the single file `file`. The HTTP layer stores
// the file encrypted before the operation runs.
import { type TUnsafe, Type } from '@sinclair/typebox';

/** An encrypted stored file that is not attached to a resource yet. */
export interface UploadedFile {
  /** ID of a row of the table `files`. */
  id: string;
  /** Name from the client, without folders and control characters. */
  fileName: string;
  /** Size of the clear content in bytes. */
  size: number;
  /** SHA-256 of the clear content, hexadecimal. */
  sha256: string;
  /** Key of the file, 32 bytes. The operation that attaches the file encrypts and stores the key. */
  key: Uint8Array;
  /** Result of the contract's inspector. */
  findings: unknown;
}

/**
 * Inspects the clear content of a file in one pass while it is received.
 */
export interface Inspector {
  write(chunk: Uint8Array): void;
  /** Returns the findings. Called once, after the last chunk. */
  end(): unknown;
}

/** Rules of a contract for its file. */
export interface UploadRules {
  maxBytes: number;
  /** Creates an inspector for each file. */
  inspect?: () => Inspector;
}

/** The property `file` in the body schema of a contract with `upload`. */
export const FilePart: TUnsafe<UploadedFile> = Type.Unsafe<UploadedFile>({
  type: 'string',
  format: 'binary',
  description: 'Content of the file.',
});

/**
 * Stores bytes under names. Names are IDs of the server. The content is encrypted, so secrecy and
 * integrity do not depend on the storage.
 */
export interface StoragePort {
  /** Stores an object completely or not at all. A resolved call survives a crash. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** The content from byte `from` to the end. Rejects for a missing object. */
  get(name: string, from?: number): AsyncIterable<Uint8Array>;
  /** Removes an object, or the parts of an interrupted `put`. A missing object is ignored. */
  remove(name: string): Promise<void>;
}
