// Checks the subject of a commit message, as a hook: Conventional Commits, at most 72 columns.
// Subjects of merges, reverts, fixups and squashes are exempt.
import fs from 'node:fs';

const TYPES = ['feat', 'fix', 'perf', 'refactor', 'test', 'docs', 'build', 'chore'];
const MAX_COLUMNS = 72;

const [subject = ''] = fs.readFileSync(process.argv[2] ?? '', 'utf8').split('\n');
const form = new RegExp(`^(${TYPES.join('|')})(\\([\\w-]+\\))?!?: \\S`);
if (!/^(Merge|Revert|fixup!|squash!) /.test(subject)) {
  if (!form.test(subject)) {
    console.error(`The subject must begin with one of ${TYPES.join(', ')}: "feat(scope): change".`);
    process.exit(1);
  }
  if (subject.length > MAX_COLUMNS) {
    console.error(`The subject has ${subject.length} columns. Shorten it to ${MAX_COLUMNS}.`);
    process.exit(1);
  }
}
