// Addresses of the pages of a site at `base`. The server finds a page without `.html`. A host of static
// files may not, so the addresses in an export have it.

/** Returns the address of a page, folder or file, such as `errors#not_found` or `openapi.json`. */
export const addressesAt =
  (base, isExport) =>
  (target = '') => {
    const [, name, fragment] = /^([^#]*)(.*)$/.exec(target);
    const isPage = name !== '' && !name.endsWith('/') && !/\.\w+$/.test(name);
    return `${base}${name}${isPage && isExport ? '.html' : ''}${fragment}`;
  };
