// The wire form of an error. The code and the names in the message may have the operator's service name
// prefix, so both are translated.
import type { Naming } from '../catalog/naming.ts';
import type { Fault, FieldError } from '../kernel/fault.ts';

/** Errors of fields may contain names that have the service name prefix. */
function renameDetails(naming: Naming, details: NonNullable<Fault['details']>) {
  const errors = details.errors as FieldError[] | undefined;
  if (!errors) return details;
  const renameError = (error: FieldError) => ({ ...error, message: naming.text(error.message) });
  return { ...details, errors: errors.map(renameError) };
}

/**
 * The wire form of a fault. `status` and `message` repeat values for clients that read only these fields.
 */
export function faultBody(naming: Naming, fault: Fault) {
  const code = naming.code(fault.code);
  const reason = naming.text(fault.message);
  return {
    code,
    reason,
    ...(fault.details ? { details: renameDetails(naming, fault.details) } : {}),
    status: fault.status,
    message: reason,
  };
}
