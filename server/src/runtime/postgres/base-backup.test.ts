// The command that archives a segment of the write-ahead log. The test of the guide covers backups and
// restores with a real PostgreSQL.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { archiveCommand, walFolder } from './base-backup.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'archive-'));
const segment = path.join(folder, 'segment');
const NAME = '000000010000000000000001';

afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Whether the command accepts a segment with this content. */
function isArchived(content: string): boolean {
  fs.writeFileSync(segment, content);
  const command = archiveCommand(folder).replaceAll('%p', segment).replaceAll('%f', NAME);
  return spawnSync('/bin/sh', ['-c', command]).status === 0;
}

it('the archive command accepts the same segment again and rejects different content', () => {
  fs.mkdirSync(walFolder(folder));
  expect(isArchived('first')).toBe(true);
  expect(isArchived('first')).toBe(true);
  expect(isArchived('other')).toBe(false);
  expect(fs.readdirSync(walFolder(folder))).toEqual([NAME]);
  expect(fs.readFileSync(path.join(walFolder(folder), NAME), 'utf8')).toBe('first');
});

it('the archive command reports a failed copy, so that PostgreSQL repeats it', () => {
  fs.rmSync(walFolder(folder), { recursive: true });
  expect(isArchived('first')).toBe(false);
});
