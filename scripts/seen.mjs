// Which declared replies no test has seen: success statuses, and the error codes that a contract lists. What
// can be answered without a test of its own is listed in server/test/awaited.json with the reason, where `*`
// stands for every code of an operation; the list names nothing that a test has seen.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';

const read = (name) => JSON.parse(fs.readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

/** Success statuses of each published operation. */
function* successes() {
  for (const item of Object.values(read('openapi.json').paths)) {
    for (const { operationId, responses } of Object.values(item)) {
      for (const status of Object.keys(responses)) if (status < '400') yield [operationId, status];
    }
  }
}

/** One line for each problem; `file` holds lines of operationId, status and, of an error, its code. */
export async function unseen(file) {
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const seen = new Set();
  const codes = new Set();
  for (const [operationId, status, code] of lines.map((line) => line.split(' '))) {
    seen.add(`${operationId} ${code ?? status}`);
    codes.add(code);
  }
  const { publishedErrors } = await import(pathToFileURL((await ensureBuilt()).document).href);
  const errors = publishedErrors();
  const declared = [...successes()];
  for (const { operationId, own } of errors)
    for (const code of own) declared.push([operationId, code]);
  const awaited = read('server/test/awaited.json');
  const problems = [];
  for (const [operationId, reply] of declared) {
    const pair = `${operationId} ${reply}`;
    const { [reply]: isAwaited, '*': areAllAwaited } = awaited[operationId] ?? {};
    const isMissing = !isAwaited && (!areAllAwaited || reply < '400');
    if (!seen.has(pair) && isMissing) problems.push(`declared but seen by no test: ${pair}`);
    if (seen.has(pair) && isAwaited) problems.push(`awaited but answered already: ${pair}`);
  }
  // Those that follow from the kind of an operation: one operation that answers them is enough.
  for (const code of new Set(errors.flatMap(({ common }) => common))) {
    if (!codes.has(code)) problems.push(`common error but seen by no test: ${code}`);
  }
  const known = new Set(
    declared.flatMap(([operationId, reply]) => [`${operationId} ${reply}`, `${operationId} *`]),
  );
  for (const [operationId, replies] of Object.entries(awaited)) {
    for (const reply of Object.keys(replies)) {
      const pair = `${operationId} ${reply}`;
      if (!known.has(pair)) problems.push(`awaited but not declared: ${pair}`);
    }
  }
  return problems;
}
