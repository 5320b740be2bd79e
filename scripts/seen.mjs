// Finds declared replies that no test has produced: success statuses and error codes of contracts.
// If operations share the functions of a code, one of them is tested, and server/test/awaited.json
// lists the others as `same as` that operation; `*` stands for all its codes. Codes that no test
// can produce are listed there with the reason.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';

const read = (name) => JSON.parse(fs.readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

/** Pairs of an operation and one of its success statuses. */
function* successesOf(document) {
  for (const item of Object.values(document.paths)) {
    for (const { operationId, responses } of Object.values(item)) {
      for (const status of Object.keys(responses)) if (status < '400') yield [operationId, status];
    }
  }
}

/** Problems of one operation's awaited replies, and the replies that are exempt. */
function checkAwaited(operationId, replies, declared, seen) {
  const problems = [];
  const excused = new Set();
  const own = declared.get(operationId) ?? [];
  for (const [reply, reason] of Object.entries(replies)) {
    const other = /^same as (\w+)$/.exec(reason)?.[1];
    const isWhole = reply === '*';
    if (isWhole && !declared.has(other)) {
      problems.push(`awaited but not the same as any operation: ${operationId} *`);
      continue;
    }
    const codes = isWhole ? declared.get(other).filter((each) => each >= 'A') : [reply];
    for (const code of codes) {
      excused.add(code);
      const pair = `${operationId} ${code}`;
      if (!own.includes(code)) problems.push(`awaited but not declared: ${pair}`);
      if (!isWhole && seen.has(pair)) problems.push(`awaited but answered already: ${pair}`);
      if (other && !seen.has(`${other} ${code}`)) {
        problems.push(`awaited of ${other} but seen by no test there: ${pair}`);
      }
    }
  }
  return { problems, excused };
}

/**
 * One line for each problem. `lines` are the replies of tests: operationId, status and, for an
 * error, its code. `errors` are the codes of each operation, `awaited` the parsed file.
 */
export function replyProblems({ lines, successes, errors, awaited }) {
  const split = lines.map((line) => line.split(' '));
  const seen = new Set(split.map(([id, status, code]) => `${id} ${code ?? status}`));
  const declared = new Map(errors.map(({ operationId, own }) => [operationId, [...own]]));
  for (const [id, status] of successes) declared.set(id, [status, ...(declared.get(id) ?? [])]);
  const problems = [];
  for (const [operationId, replies] of declared) {
    const checked = checkAwaited(operationId, awaited[operationId] ?? {}, declared, seen);
    const missing = replies.filter(
      (reply) => !checked.excused.has(reply) && !seen.has(`${operationId} ${reply}`),
    );
    problems.push(
      ...missing.map((reply) => `declared but seen by no test: ${operationId} ${reply}`),
    );
    problems.push(...checked.problems);
  }
  for (const operationId of Object.keys(awaited)) {
    if (!declared.has(operationId)) problems.push(`awaited but no operation: ${operationId}`);
  }
  // Codes that follow from the kind of an operation: one operation of the kind is sufficient.
  const codes = new Set(split.map(([, , code]) => code));
  for (const code of new Set(errors.flatMap(({ common }) => common))) {
    if (!codes.has(code)) problems.push(`common error but seen by no test: ${code}`);
  }
  return problems;
}

/** The problems of the run that wrote `file`. */
export async function unseen(file) {
  const { publishedErrors } = await import(pathToFileURL((await ensureBuilt()).document).href);
  return replyProblems({
    lines: fs.readFileSync(file, 'utf8').split('\n').filter(Boolean),
    successes: [...successesOf(read('openapi.json'))],
    errors: publishedErrors(),
    awaited: read('server/test/awaited.json'),
  });
}
