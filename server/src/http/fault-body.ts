// The wire form of an error. Its code and the names in its message may have the operator's service name
// prefix, so both are translated.
import type { Naming } from '../catalog/naming.ts';
import type { Fault, FieldError } from '../kernel/fault.ts';

/** What is said of each bad field names values that clients know by another word. */
function detailsInWords(naming: Naming, details: NonNullable<Fault['details']>) {
  const errors = details.errors as FieldError[] | undefined;
  if (!errors) return details;
  const inWords = (error: FieldError) => ({ ...error, message: naming.text(error.message) });
  return { ...details, errors: errors.map(inWords) };
}

/** The wire form of a refusal; `status` and `message` repeat for clients that read only those. */
export function faultBody(naming: Naming, fault: Fault) {
  const code = naming.code(fault.code);
  const reason = naming.text(fault.message);
  return {
    code,
    reason,
    ...(fault.details ? { details: detailsInWords(naming, fault.details) } : {}),
    status: fault.status,
    message: reason,
  };
}
