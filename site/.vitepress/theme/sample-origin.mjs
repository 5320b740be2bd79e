// Samples on a site that a local server serves on a port other than the default. The text of samples
// and their links then have the origin of the page, so that they can be copied as they are.

const SAMPLE_ORIGIN = 'http://localhost:4000';
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The origin for the samples of a page, or undefined if they are unchanged. A static export is not
 * served by a server.
 */
export function originOfSamples({ hostname, port, origin }, isExport) {
  if (isExport || !LOOPBACK_HOST.test(hostname) || port === '4000') return undefined;
  return origin;
}

/** Replaces the origin in code and in links below an element. */
export function replaceOrigin(root, origin) {
  for (const code of root.querySelectorAll('code')) {
    if (!code.textContent.includes(SAMPLE_ORIGIN)) continue;
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      text.data = text.data.replaceAll(SAMPLE_ORIGIN, origin);
    }
  }
  for (const link of root.querySelectorAll(`a[href^="${SAMPLE_ORIGIN}"]`)) {
    link.setAttribute('href', link.getAttribute('href').replace(SAMPLE_ORIGIN, origin));
    // The text of an automatic link is its address.
    if (link.textContent.startsWith(SAMPLE_ORIGIN)) {
      link.textContent = link.textContent.replace(SAMPLE_ORIGIN, origin);
    }
  }
}
