// Paths that exist and do not support the method of the request. Each path is stored once here. A
// route for each unsupported method would be a thousand more routes, which cost time and memory at
// the start.
import FindMyWay from 'find-my-way';
import type { Naming } from '../../catalog/naming.ts';
import type { Contract } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { routeOf } from '../route.ts';

export interface UnsupportedMethod {
  fault: Fault;
  /** Methods that the path supports, as in the header `Allow`. */
  allowedMethods: string;
  /** Template of the path. */
  path: string;
  contracts: Contract[];
}

/** Other methods, such as HEAD and OPTIONS, receive the reply for an unknown path. */
const METHODS = new Set<string>(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']);

function contractsOf(operations: readonly { contract: Contract }[], naming: Naming) {
  const contractsByRoute = new Map<string, Contract[]>();
  for (const { contract } of operations) {
    const route = routeOf(contract, naming);
    contractsByRoute.set(route, [...(contractsByRoute.get(route) ?? []), contract]);
  }
  return contractsByRoute;
}

/**
 * Whether each segment of the second route is a parameter or equals the segment of the first route.
 */
const isShadowedBy = (segments: readonly string[], otherSegments: readonly string[]) =>
  segments.length === otherSegments.length &&
  otherSegments.every((each, index) => each.startsWith(':') || each === segments[index]);

/**
 * Unsupported methods of routes that another route accepts, such as `PATCH /agents/approvals`, a
 * request to `/agents/:id`.
 */
export function shadowedMethods(operations: readonly { contract: Contract }[], naming: Naming) {
  const routes = [...contractsOf(operations, naming)].map(([url, contracts]) => ({
    ...{ url, segments: url.split('/'), methods: contracts.map(({ method }) => method) },
  }));
  return routes.flatMap(({ url, segments, methods }) => {
    const otherRoutes = routes.filter(
      (each) => each.url !== url && isShadowedBy(segments, each.segments),
    );
    const acceptedMethods = new Set<Contract['method']>(
      otherRoutes.flatMap((each) => each.methods),
    );
    for (const each of methods) acceptedMethods.delete(each);
    return acceptedMethods.size > 0 ? [{ url, methods: [...acceptedMethods] }] : [];
  });
}

/**
 * Returns a function that describes the unsupported method of a request. Its result is undefined
 * for an unknown path.
 */
export function createUnsupportedMethods(
  operations: readonly { contract: Contract }[],
  naming: Naming,
  maxParamLength: number,
) {
  const router = FindMyWay({ maxParamLength });
  for (const [route, contracts] of contractsOf(operations, naming)) {
    const allowedMethods = [...new Set(contracts.map(({ method }) => method))].join(', ');
    const fault = new Fault('METHOD_NOT_ALLOWED', `This path supports ${allowedMethods} only.`);
    const { path = '' } = contracts[0] ?? {};
    const store: UnsupportedMethod = { fault, allowedMethods, path, contracts };
    router.on('GET', route, () => undefined, store);
  }
  return ({ method, url }: { method: string; url: string }): UnsupportedMethod | undefined =>
    METHODS.has(method) ? (router.find('GET', url)?.store as UnsupportedMethod) : undefined;
}
