// Finds declared replies that no test has produced: success statuses and error codes of contracts. Also
// finds operations of operators that are declared to post money but have not posted in any test, while the
// test harness reports undeclared ones. server/test/untested-replies.json lists operations that share the
// functions of a tested one as `same as` that operation, with `*` for all codes. The file also lists codes
// that no test can produce, with the reason. Examples of errors that no test observed are problems too.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../build.mjs';
import { operationErrorProblems, readOperationErrors } from './operation-errors.mjs';

const read = (name) =>
  JSON.parse(fs.readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

/** Pairs of an operation and one of its success statuses. */
function* successesOf(document) {
  for (const item of Object.values(document.paths)) {
    for (const { operationId, responses } of Object.values(item)) {
      for (const status of Object.keys(responses)) if (status < '400') yield [operationId, status];
    }
  }
}

/** Problems of the entries of one operation, and the replies that are exempt. */
function checkUntested(operationId, replies, repliesByOperation, observedReplies) {
  const problems = [];
  const exempt = new Set();
  const declaredCodes = repliesByOperation.get(operationId) ?? [];
  for (const [reply, reason] of Object.entries(replies)) {
    const otherOperation = /^same as (\w+)$/.exec(reason)?.[1];
    const isEveryCode = reply === '*';
    if (isEveryCode && !repliesByOperation.has(otherOperation)) {
      problems.push(`"*" needs the reason "same as" an operation: ${operationId} *`);
      continue;
    }
    const codes = isEveryCode
      ? repliesByOperation.get(otherOperation).filter((code) => code >= 'A')
      : [reply];
    for (const code of codes) {
      exempt.add(code);
      const pair = `${operationId} ${code}`;
      if (!declaredCodes.includes(code))
        problems.push(`listed as untested, but not declared: ${pair}`);
      if (!isEveryCode && observedReplies.has(pair))
        problems.push(`listed as untested, but produced by a test: ${pair}`);
      if (otherOperation && !observedReplies.has(`${otherOperation} ${code}`)) {
        problems.push(`same as ${otherOperation}, but no test of it produces the code: ${pair}`);
      }
    }
  }
  return { problems, exempt };
}

/**
 * One line for each problem. `lines` are the replies of tests: operationId, status and, for an
 * error, its code, and `posts` for a commit of an operator with postings. `errors` are the codes of
 * each operation, `untested` is the parsed file, `posting` are the operations that post money.
 */
export function replyProblems({ lines, successes, errors, untested, posting = [] }) {
  const lineWords = lines.map((line) => line.split(' '));
  const observedReplies = new Set(lineWords.map(([id, status, code]) => `${id} ${code ?? status}`));
  const repliesByOperation = new Map(
    errors.map(({ operationId, specificCodes }) => [operationId, [...specificCodes]]),
  );
  for (const [id, status] of successes)
    repliesByOperation.set(id, [status, ...(repliesByOperation.get(id) ?? [])]);
  const problems = [];
  for (const [operationId, replies] of repliesByOperation) {
    const untestedResult = checkUntested(
      operationId,
      untested[operationId] ?? {},
      repliesByOperation,
      observedReplies,
    );
    const missingReplies = replies.filter(
      (reply) =>
        !untestedResult.exempt.has(reply) && !observedReplies.has(`${operationId} ${reply}`),
    );
    problems.push(
      ...missingReplies.map(
        (reply) => `declared but not produced by a test: ${operationId} ${reply}`,
      ),
    );
    problems.push(...untestedResult.problems);
  }
  for (const operationId of Object.keys(untested)) {
    if (!repliesByOperation.has(operationId))
      problems.push(`listed as untested, but not an operation: ${operationId}`);
  }
  // Codes that follow from the kind of an operation. One operation of the kind is sufficient.
  const codes = new Set(lineWords.map(([, , code]) => code));
  for (const code of new Set(errors.flatMap(({ commonCodes }) => commonCodes))) {
    if (!codes.has(code)) problems.push(`common error but not produced by a test: ${code}`);
  }
  for (const operationId of posting) {
    if (!observedReplies.has(`${operationId} posts`)) {
      problems.push(`declared to post money but posted in no test: ${operationId}`);
    }
  }
  return problems;
}

/** The recorded replies of a run. */
export const linesOf = (file) => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);

/** The problems of the run that wrote `file`. */
export async function uncoveredReplies(file) {
  const { document } = await ensureBuilt();
  const { publishedErrors, postingOperations } = await import(pathToFileURL(document).href);
  const lines = linesOf(file);
  const problems = replyProblems({
    lines,
    successes: [...successesOf(read('openapi.json'))],
    errors: publishedErrors(),
    posting: postingOperations(),
    untested: read('server/test/untested-replies.json'),
  });
  return [...problems, ...operationErrorProblems(lines, readOperationErrors())];
}
