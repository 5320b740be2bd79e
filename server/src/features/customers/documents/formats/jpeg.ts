// Walks through the segments of a JPEG file. Its end is a marker, but the same two bytes also end the small
// preview inside many photographs, and cameras put more behind the end; so the segments have to be followed
// one by one. The frame header that they lead to has the size of the image. A library would read that from a
// file's beginning, and would not know whether the end ever comes.
import type { Reader } from './reader.ts';

const END = 0xd9;
const START = 0xd8;
const SCAN = 0xda;
/** A frame header begins with precision, height and width. */
const FRAME_BYTES = 5;

const isFrame = (code: number) =>
  code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);
const isRestart = (code: number) => code >= 0xd0 && code <= 0xd7;

type State =
  | 'marker' // an 0xff is due
  | 'code' // what kind of segment it is
  | 'high' // its length
  | 'low'
  | 'frame' // the first bytes of a frame header
  | 'skip'
  | 'scan' // the image itself, up to the next 0xff
  | 'escape' // what that 0xff means
  | 'done'
  | 'broken';

export function jpegReader(): Reader {
  // The first two bytes are what it was recognised by.
  let state: State = 'skip';
  let left = 2;
  let code = 0;
  const frame: number[] = [];

  const behind = (): State => (code === SCAN ? 'scan' : 'marker');

  function begin(marker: number): State {
    if (marker === 0xff) return 'code';
    if (marker === END) return 'done';
    if (marker === 0x01 || isRestart(marker)) return 'marker';
    if (marker === 0x00 || marker === START) return 'broken';
    code = marker;
    return 'high';
  }

  function measured(): State {
    left -= 2;
    if (left < 0) return 'broken';
    if (isFrame(code) && frame.length === 0) return left < FRAME_BYTES ? 'broken' : 'frame';
    return left === 0 ? behind() : 'skip';
  }

  function framed(byte: number): State {
    left--;
    if (frame.push(byte) < FRAME_BYTES) return 'frame';
    if (frame[3] === 0 && frame[4] === 0) return 'broken'; // no width
    return left === 0 ? behind() : 'skip';
  }

  function take(byte: number): State {
    if (state === 'marker') {
      if (byte === 0xff) return 'code';
      return frame.length === 0 ? 'broken' : 'marker'; // decoders look past rubbish between segments
    }
    if (state === 'code') return begin(byte);
    if (state === 'high') {
      left = byte << 8;
      return 'low';
    }
    if (state === 'low') {
      left |= byte;
      return measured();
    }
    if (state === 'frame') return framed(byte);
    if (byte === 0xff) return 'escape';
    return byte === 0x00 || isRestart(byte) ? 'scan' : begin(byte);
  }

  function write(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (state === 'done' || state === 'broken') return;
      if (state === 'skip') {
        const step = Math.min(left, chunk.length - at);
        at += step;
        left -= step;
        if (left === 0) state = behind();
      } else if (state === 'scan') {
        const next = chunk.indexOf(0xff, at);
        if (next < 0) return;
        at = next + 1;
        state = 'escape';
      } else state = take(chunk[at++] as number);
    }
  }

  return {
    write,
    end() {
      const [, high = 0, low = 0, wide = 0, narrow = 0] = frame;
      const known = frame.length === FRAME_BYTES;
      return {
        complete: state === 'done',
        readable: state !== 'broken' && (state !== 'done' || known),
        locked: false,
        width: known ? (wide << 8) | narrow : null,
        // Nought says that the height stands behind the image.
        height: (known && (high << 8) | low) || null,
      };
    },
  };
}
