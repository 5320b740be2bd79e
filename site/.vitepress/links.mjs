// Links to parts that are served next to the pages. In the Markdown the links lead to a local server. In
// the site they lead to the same host.
const SERVER = 'http://localhost:4000/docs/';

/** Adds the links to a markdown-it instance. `addressOf` returns an address on the host. */
export function addLinks(md, addressOf) {
  const renderLink =
    md.renderer.rules.link_open ??
    ((tokens, index, options, _, self) => self.renderToken(tokens, index, options));
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet('href') ?? '';
    if (!href.startsWith(SERVER)) return renderLink(tokens, index, options, env, self);
    const target = href.slice(SERVER.length);
    if (target.startsWith('operations/')) {
      tokens[index].attrSet('href', `/${target}`);
      return renderLink(tokens, index, options, env, self);
    }
    tokens[index].attrSet('href', addressOf(target));
    // The browser loads the address, because it is not a page of the site.
    tokens[index].attrSet('target', '_self');
    return self.renderToken(tokens, index, options);
  };
}
