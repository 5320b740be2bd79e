// What every format's reader answers. A reader is given a file piece by piece, however it was cut, and keeps
// no more of it than a few thousand bytes.

interface Structure {
  /** It reaches its own end; what is behind that does not count. */
  complete: boolean;
  /** Nothing in it contradicts its format. */
  readable: boolean;
  /** It is encrypted. */
  locked: boolean;
  /** In pixels, where it is an image and says so. */
  width: number | null;
  height: number | null;
}

export interface Reader {
  write(chunk: Uint8Array): void;
  end(): Structure;
}
