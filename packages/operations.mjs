// The operations of an OpenAPI document, for the generators of clients.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The operations of the document with their paths and methods. */
export const operationsOf = (document) =>
  Object.entries(document.paths).flatMap(([route, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) => ({
      route,
      method: method.toUpperCase(),
      ...methods[method],
    })),
  );
