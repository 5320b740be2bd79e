// Examples of errors whose reason depends on the operation. `npm test -- --write-examples` chooses one for
// each operation and code from the replies of the main suite. Every complete run checks that they still equal
// an observed reply.
import fs from 'node:fs';

const FILE = new URL('../../server/examples/errors/operations.json', import.meta.url);

/** Values of a single run. */
const RANDOM = /[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{16}|\d{6}/;
const MAX_LENGTH = 600;
/** Examples show a request with few invalid fields. */
const MAX_FIELDS = 3;
const MAX_RANK = MAX_FIELDS * MAX_FIELDS;

export const readOperationErrors = () => JSON.parse(fs.readFileSync(FILE, 'utf8'));

/** Bodies of errors, as JSON, by `operationId CODE`. Other lines of the replies have no body. */
export function observedBodies(lines) {
  const bodies = new Map();
  for (const line of lines) {
    const [, operationId, code, json] = /^(\w+) \d+ (\w+) (\{.*)$/.exec(line) ?? [];
    if (json === undefined) continue;
    const pair = `${operationId} ${code}`;
    bodies.set(pair, (bodies.get(pair) ?? new Set()).add(json));
  }
  return bodies;
}

const fieldErrorsOf = ({ details }) => details?.errors ?? [];

const GENERAL_FIELDS = ['', 'body', 'Idempotency-Key'];

/** Whether an error is independent of the fields of an operation. */
const isGeneral = ({ field, message }) =>
  GENERAL_FIELDS.includes(field) || message === 'is unknown';

/** Lower for bodies that name fields of the operation, and for two fields, because a reply lists all. */
function rankOf(body) {
  const errors = fieldErrorsOf(body);
  if (errors.length === 0) return MAX_RANK;
  return errors.filter(isGeneral).length * MAX_FIELDS + Math.abs(errors.length - 2);
}

function compareBodies(one, other) {
  const difference = rankOf(JSON.parse(one)) - rankOf(JSON.parse(other));
  return difference || one.length - other.length || (one < other ? -1 : 1);
}

const isSuitable = (json) =>
  json.length <= MAX_LENGTH &&
  !RANDOM.test(json) &&
  /^[\x20-\x7e]*$/.test(json) &&
  fieldErrorsOf(JSON.parse(json)).length <= MAX_FIELDS;

/** operationId → code → body. A committed example that was observed remains. */
export function chooseErrors(lines, committed) {
  const chosen = {};
  const pairs = [...observedBodies(lines)].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [pair, bodies] of pairs) {
    const [operationId, code] = pair.split(' ');
    const committedJson = JSON.stringify(committed[operationId]?.[code]);
    const json = bodies.has(committedJson)
      ? committedJson
      : [...bodies].filter(isSuitable).sort(compareBodies)[0];
    if (json !== undefined)
      chosen[operationId] = { ...chosen[operationId], [code]: JSON.parse(json) };
  }
  return chosen;
}

/**
 * One line for each committed example that differs from all observed bodies of its operation and code. An
 * error that depends on the seed of the run may be absent from a run.
 */
export function operationErrorProblems(lines, committed) {
  const bodies = observedBodies(lines);
  return Object.entries(committed).flatMap(([operationId, byCode]) =>
    Object.entries(byCode)
      .filter(([code, body]) => {
        const observed = bodies.get(`${operationId} ${code}`);
        return observed !== undefined && !observed.has(JSON.stringify(body));
      })
      .map(
        ([code]) =>
          `example not observed, run npm test -- --write-examples: ${operationId} ${code}`,
      ),
  );
}

export const writeOperationErrors = (lines) =>
  fs.writeFileSync(
    FILE,
    `${JSON.stringify(chooseErrors(lines, readOperationErrors()), null, 2)}\n`,
  );
