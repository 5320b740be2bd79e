// `npm run bench -- --compare REF`: measures this checkout and another commit alternately, one
// round each, and prints both results per row. A temporarily slower machine affects both.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const ROUNDS = 3;

const git = (root, ...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Creates a checkout of the commit below bench/.railhead, which remains for later comparisons. */
function checkout(root, commit) {
  const folder = path.join(root, 'bench', '.railhead', `compare-${commit.slice(0, 12)}`);
  if (!fs.existsSync(folder)) git(root, 'worktree', 'add', '--detach', folder, commit);
  return folder;
}

/** The result of one round in a checkout. */
function measure(folder, { only, quick }, name) {
  const file = path.join(folder, 'bench', '.railhead', 'compare.json');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.rmSync(file, { force: true });
  const flags = [
    ...['--rounds', '1', '--json', file],
    ...(only.length ? ['--only', only.join(',')] : []),
    ...(quick ? ['--quick'] : []),
  ];
  process.stderr.write(`${name}: ${flags.join(' ')}\n`);
  const script = path.join(folder, 'scripts', 'bench.mjs');
  spawnSync(process.execPath, [script, ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 2] });
  const rows = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).rows : [];
  if (rows.length === 0) throw new Error(`${name} has no result. See the messages above.`);
  return rows;
}

const medianOf = (values) => {
  const sortedValues = [...values].sort((a, b) => a - b);
  const middle = sortedValues.length >> 1;
  return sortedValues.length % 2
    ? sortedValues[middle]
    : (sortedValues[middle - 1] + sortedValues[middle]) / 2;
};

const formatNumber = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** Below this quotient a row counts as slower. */
const SLOWER_QUOTIENT = 0.95;

/**
 * One line per row: both medians, and the median and range of the quotients. Above 1, this checkout
 * is better.
 */
export function linesOf(otherRounds, ownRounds) {
  const [firstRows = []] = ownRounds;
  return firstRows.map(({ id, label, unit }) => {
    const valuesOf = (rounds) =>
      rounds
        .map((rows) => rows.find((row) => row.id === id))
        .map((row) => (row?.railhead ?? row?.ours)?.values[0]);
    const [otherValues, ownValues] = [valuesOf(otherRounds), valuesOf(ownRounds)];
    if ([...otherValues, ...ownValues].includes(undefined)) return [id, label, 'new', '', ''];
    const quotients = ownValues.map((value, index) =>
      unit === '/s' ? value / otherValues[index] : otherValues[index] / value,
    );
    const [lowest, highest] = [Math.min(...quotients), Math.max(...quotients)];
    const quotient = `${medianOf(quotients).toFixed(2)} (${lowest.toFixed(2)}–${highest.toFixed(2)})`;
    const format = (values) =>
      `${formatNumber(medianOf(values))}${unit === '/s' ? '/s' : ` ${unit}`}`;
    return [id, label, format(otherValues), format(ownValues), quotient];
  });
}

/** Whether a row is slower by more than 5 %. */
export const isSlower = (lines) =>
  lines.some(([, , , , quotient]) => Number.parseFloat(quotient) < SLOWER_QUOTIENT);

/** Compares with `flags.compare`. Returns the exit code, 1 if a row is slower by more than 5 %. */
export async function compare(root, flags, exitWithError) {
  let commit;
  try {
    commit = git(root, 'rev-parse', '--verify', `${flags.compare}^{commit}`);
  } catch {
    return exitWithError(
      `--compare must be a commit, a branch or a tag. The value is ${flags.compare}.`,
    );
  }
  const otherCheckout = checkout(root, commit);
  const otherRounds = [];
  const ownRounds = [];
  for (let round = 0; round < (flags.rounds || ROUNDS); round++) {
    otherRounds.push(measure(otherCheckout, flags, flags.compare));
    ownRounds.push(measure(root, flags, 'this checkout'));
  }
  const lines = linesOf(otherRounds, ownRounds);
  const table = [['row', 'label', flags.compare, 'now', 'now : before'], ...lines];
  const widths = table[0].map((_, index) => Math.max(...table.map((line) => line[index].length)));
  for (const line of table)
    console.log(
      line
        .map((cell, index) => cell.padEnd(widths[index]))
        .join('  ')
        .trimEnd(),
    );
  return isSlower(lines) ? 1 : 0;
}
