// Mermaid blocks as SVG, drawn while the site is built, so that a page loads no script for its
// diagrams. Colors are the tokens of the theme, so that a diagram has the colors of the light or
// the dark mode.
import { renderMermaidSVG } from 'beautiful-mermaid';

const OPTIONS = {
  padding: 12,
  bg: 'var(--surface)',
  fg: 'var(--text)',
  line: 'var(--border)',
  accent: 'var(--text-soft)',
  muted: 'var(--text-soft)',
  surface: 'var(--ground)',
  border: 'var(--border)',
};

/**
 * Scale of the diagrams. The smallest text has 11 pixels without scaling, and 12 at this scale. Wide
 * diagrams scroll.
 */
const SCALE = 12 / 11;

const scaledSize = (_, width, height) =>
  `width="${Math.ceil(width * SCALE)}" height="${Math.ceil(height * SCALE)}"`;

/**
 * Removes the styles, which would apply to the whole page and are in the theme. Makes the IDs unique in a
 * page.
 */
const embeddedSvg = (svg, id) =>
  svg
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/ style="--bg:[^"]*"/, '')
    .replace(/width="([\d.]+)" height="([\d.]+)"/, scaledSize)
    .replaceAll(/id="(arrowhead[\w-]*)"/g, `id="${id}-$1"`)
    .replaceAll('url(#arrowhead', `url(#${id}-arrowhead`)
    .replaceAll(/\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))))
    .replaceAll(/\n\s*/g, '\n')
    // Two braces would start an expression of Vue.
    .replaceAll('{{', '&#123;&#123;');

const drawings = new Map();

function draw(source) {
  const drawing = drawings.get(source) ?? renderMermaidSVG(source, OPTIONS);
  drawings.set(source, drawing);
  return drawing;
}

/** The heading above a block names its diagram. */
function headingBefore(tokens, index) {
  for (let position = index - 1; position > 0; position--) {
    if (tokens[position].type === 'heading_close')
      return tokens[position - 1].content.replaceAll('`', '');
  }
  return '';
}

/** Adds the rendering of `mermaid` fences to a markdown-it instance. */
export function addDiagrams(md) {
  const renderFence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    if (tokens[index].info.trim() !== 'mermaid')
      return renderFence(tokens, index, options, env, self);
    const label = md.utils.escapeHtml(`Diagram: ${headingBefore(tokens, index)}`);
    const svg = embeddedSvg(draw(tokens[index].content), `diagram-${index}`);
    return `<figure class="diagram" role="group" tabindex="0" aria-label="${label}">${svg}</figure>\n`;
  };
}
